"""Django application of `atom.webhooks`."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Webhooks of projects and their deliveries."""

    name = "atom.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
