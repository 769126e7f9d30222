"""Reads and writes of quotas."""
