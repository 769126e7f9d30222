"""Webhooks and what was sent."""

from atom.core.admin import show_rest

show_rest("webhooks")
