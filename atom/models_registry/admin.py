"""Models and their versions."""

from atom.core.admin import show_rest

show_rest("models_registry")
