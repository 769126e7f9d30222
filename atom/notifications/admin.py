"""Notifications and what people chose."""

from atom.core.admin import show_rest

show_rest("notifications")
