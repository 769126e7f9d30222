"""Merges, reverts, picks, edits and selections on a branch.

Each makes a root of roots that are stored, and commits it.
"""
