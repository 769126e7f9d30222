"""Verbs of pyramids."""
