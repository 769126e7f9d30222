"""Comparison of the catalogue with the object store, and its rebuild from there.

It reads everything, and writes rows that are missing.
"""
