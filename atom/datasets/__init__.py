"""Versioned datasets: packs, manifests, commits, branches, sources, retention and garbage.

It writes dataset tables and object storage. It knows neither runs nor labeling tasks.
"""
