"""Datasets, versions, packs and sources."""

from atom.core.admin import show_rest

show_rest("datasets")
