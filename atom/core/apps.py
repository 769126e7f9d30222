"""Django application of `atom.core`."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """The shared kernel; it has no tables of its own except idempotency keys."""

    name = "atom.core"
    label = "core"
    verbose_name = "Core"
