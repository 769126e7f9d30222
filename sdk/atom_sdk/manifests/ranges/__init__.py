"""Ranges: runs of entries in path order, their references, and deltas over them."""
