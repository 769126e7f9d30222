"""Django application of `atom.web`: part of the composition root, it has no tables."""

from importlib import import_module

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Makes Atom's Celery application the current one in every process that uses Django."""

    name = "atom.web"
    label = "web"

    def ready(self) -> None:
        """Load the Celery application; without it tasks would go to Celery's default broker."""
        import_module("atom.celery")
