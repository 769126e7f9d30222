"""What lies on which node."""

from atom.core.admin import show_rest

show_rest("cache")
