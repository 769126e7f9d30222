"""Django application of `atom.clusters`."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    """Clusters, nodes and their resource slots."""

    name = "atom.clusters"
    label = "clusters"
    verbose_name = "Clusters"
