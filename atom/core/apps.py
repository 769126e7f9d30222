"""Django application of `atom.core`."""

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """The shared kernel; its tables hold answers to idempotent requests, and the outbox."""

    name = "atom.core"
    label = "core"
    verbose_name = "Core"

    def ready(self) -> None:
        """Register what drf-spectacular must know before it describes the first view."""
        import_module("atom.core.schema")
