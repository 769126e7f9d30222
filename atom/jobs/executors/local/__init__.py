"""Attempts on this machine: a detached supervisor for each, and what it finds on the disk."""
