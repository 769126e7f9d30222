"""Differences between two roots, between their ranges and their layers."""
