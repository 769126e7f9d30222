"""Cleaning reports."""

from atom.core.admin import show_rest

show_rest("cleaning")
