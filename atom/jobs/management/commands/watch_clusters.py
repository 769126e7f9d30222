"""Watches registered clusters: `manage.py watch_clusters`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Follows the runs in every registered cluster, until it is stopped."""

    help = "Follow the runs in every registered cluster, until it is stopped."

    def handle(self, *_: Any, **__: Any) -> None:
        """Watch until SIGTERM or SIGINT."""
        from atom.jobs.executors.kubernetes.watchers import Watchers

        Watchers().run()
