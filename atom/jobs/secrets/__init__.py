"""Secrets of a project: set, forget, give to a run.

Values leave only to a runner.
"""
