"""Cutting pictures into tiles, without the database."""
