"""Curves of runs: batches become chunks, chunks become at most as many points as a screen shows.

It writes series and chunks, and nothing of a run.
"""
