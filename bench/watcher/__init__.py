"""Costs of the process that watches a cluster."""
