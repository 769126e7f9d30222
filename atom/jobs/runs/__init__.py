"""Runs as people ask for them: plan, start, cancel, retry, clone, describe, search and list.

It writes runs and their inputs. Placement and attempts do the rest.
"""
