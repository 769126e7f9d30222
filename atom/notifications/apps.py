"""Django application of `atom.notifications`."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """What people are told, and how they want to be."""

    name = "atom.notifications"
    label = "notifications"
    verbose_name = "Notifications"
