"""Django application of `atom.datasets`."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    """Versioned datasets."""

    name = "atom.datasets"
    label = "datasets"
    verbose_name = "Datasets"
