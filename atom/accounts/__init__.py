"""Accounts, sessions and tokens of people; organisations, units, projects, roles and the audit log.

It knows nothing of datasets, runs or labels: other apps ask it for roles and rights.
"""
