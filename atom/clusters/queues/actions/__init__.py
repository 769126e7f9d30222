"""Reads and changes of the queues of runs."""
