"""Atom: a self-hosted deep-learning platform."""
