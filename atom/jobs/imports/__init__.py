"""Imports of annotations in two runs: one looks, one makes the version once it is confirmed.

It starts runs and reads their reports.
"""
