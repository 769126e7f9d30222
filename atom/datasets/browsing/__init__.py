"""Reads of what a version contains: entries, filters, queries, pages, diffs, history of a path.

It writes saved views and dismissals only.
"""
