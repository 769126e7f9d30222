"""Code of runs: snapshots that are uploaded, and commits that are fetched from git.

It writes snapshots and their objects. Every connection to a git server is made here.
"""
