"""Labeling tasks and their work."""

from atom.core.admin import show_rest

show_rest("labeling")
