"""Logs of attempts: ingest, stream, chunks, reads and search.

It writes log rows, Redis streams and chunk objects, and nothing of a run.
"""
