"""Datasets with their history: saved into a folder, loaded from it, copied to another server."""
