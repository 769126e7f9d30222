"""Django application of `atom.cache`."""

from django.apps import AppConfig


class CacheConfig(AppConfig):
    """Which bytes are on which node."""

    name = "atom.cache"
    label = "cache"
    verbose_name = "Cache"
