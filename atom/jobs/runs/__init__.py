"""Runs as people ask for them: plan, start, cancel, retry, clone, describe, search and list.

It writes runs, their inputs and the decisions about their place. Placement and attempts do the
rest.
"""
