"""Queues of Kueue: which one the runs of a project use in a cluster."""
