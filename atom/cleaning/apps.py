"""Django application of `atom.cleaning`."""

from django.apps import AppConfig


class CleaningConfig(AppConfig):
    """Reports of what is wrong in a version."""

    name = "atom.cleaning"
    label = "cleaning"
    verbose_name = "Cleaning"
