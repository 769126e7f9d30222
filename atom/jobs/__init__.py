"""Runs and workflows: queue, placement, attempts, logs, metrics, artifacts, code and secrets.

It warms data through `cache` and reads versions of `datasets`. It knows neither models nor labels.
"""
