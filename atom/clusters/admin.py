"""Clusters and their nodes."""

from atom.core.admin import show_rest

show_rest("clusters")
