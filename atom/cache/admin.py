"""Cache records, one for each version on a node."""

from atom.core.admin import show_rest

show_rest("cache")
