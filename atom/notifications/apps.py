"""Django application of `atom.notifications`."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Notifications of people, and their preferences."""

    name = "atom.notifications"
    label = "notifications"
    verbose_name = "Notifications"
