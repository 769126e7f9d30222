"""Rows in path order that may not fit into memory."""
