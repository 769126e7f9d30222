"""Pyramids of tiles of large and deep pictures."""
