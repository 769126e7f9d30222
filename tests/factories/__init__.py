"""Factories of rows, one module per app."""
