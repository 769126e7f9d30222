"""Joining clusters: what a check asks, and the registration, drain and removal of a cluster.

It writes clusters, their nodes and prices. It reaches a cluster only through `kubernetes`.
"""
