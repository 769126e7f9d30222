"""Runs that stream in a cluster while processes are killed, and the judgement of what is left.

`tests/e2e/test_faults_clusters.py` does it ten times, `make soak` as often as it is told.
"""
