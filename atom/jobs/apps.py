"""Django application of `atom.jobs`."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class JobsConfig(AppConfig):
    """Runs, attempts, logs and metrics."""

    name = "atom.jobs"
    label = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        """Put the built-in workflows into the table after each migration; tell what runs need."""
        from atom.cache.needs import register_need_reader
        from atom.clusters.node_use import register_node_use
        from atom.jobs.attempts.actions.version_needs import needs_of_runs
        from atom.jobs.scheduling.actions.cluster_capacities import node_use

        register_node_use(node_use)
        register_need_reader(needs_of_runs)
        post_migrate.connect(sync_after_migration, sender=self)


def sync_after_migration(using: str, **_: Any) -> None:
    """Write the built-in workflows, when there is a table for them."""
    from atom.jobs.workflows.actions.workflows import sync_workflows

    if using == "default" and _has_table():
        sync_workflows()


def _has_table() -> bool:
    # A migration backwards, or of another app alone, ends here too.
    from django.db import connection

    return "jobs_workflow" in connection.introspection.table_names()
