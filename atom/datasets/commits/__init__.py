"""Commits: requests, roots, branches, layers, splits, compaction and repair.

`commit_root` is the one way to a new version. It writes manifests and moves branches.
"""
