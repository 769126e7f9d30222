"""Warm-up and eviction: a record a node and version, moved by leases and watermarks.

It writes records, and reaches a node only through its backend.
"""
