"""Atom's node agent: warms packs onto a node's disk and serves them to its peers."""

__version__ = "0.1.0"
