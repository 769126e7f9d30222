"""Runs and workflows, one package a capability; tables stand together in `models`.

It warms data through `cache` and reads versions of `datasets`. It knows neither models nor labels.
"""
