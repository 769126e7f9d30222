"""Django application of `atom.web`: part of the composition root, it has no tables."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class WebConfig(AppConfig):
    """Makes Atom's Celery application the current one in every process that uses Django."""

    name = "atom.web"
    label = "web"

    def ready(self) -> None:
        """Load the Celery application; without it tasks would go to Celery's default broker."""
        import_module("atom.celery")


class OperatorAdminConfig(AdminConfig):
    """Django's admin with our door."""

    default_site = "atom.web.admin_site.OperatorSite"
