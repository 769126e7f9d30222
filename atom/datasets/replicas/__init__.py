"""Replicas: versions copied into second stores ahead of runs, verified, and removed at their end.

It writes stores, replicas and stored packs, and objects below `atom-replicas/` of a second store.
"""
