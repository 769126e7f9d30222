"""Writes of registration."""
