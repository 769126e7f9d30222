"""Runs and what they need."""

from atom.core.admin import show_rest

show_rest("jobs")
