"""Processor time of the reconciler and of the watcher of a cluster, with many open runs."""
