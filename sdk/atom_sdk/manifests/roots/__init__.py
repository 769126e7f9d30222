"""Roots: the lists of ranges and layers that make a version, in groups when they are large."""
