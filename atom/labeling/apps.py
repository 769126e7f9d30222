"""Django application of `atom.labeling`."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    """LabelX."""

    name = "atom.labeling"
    label = "labeling"
    verbose_name = "LabelX"
