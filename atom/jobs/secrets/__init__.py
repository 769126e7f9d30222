"""Secrets of a project: set, remove, give to a run.

Values leave only to a runner.
"""
