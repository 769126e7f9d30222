"""`manage.py sync_workflows`: put the built-in workflows into the table."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from atom.jobs.workflows.actions.workflows import sync_workflows


class Command(BaseCommand):
    """Runs after every migration as well; safe to repeat."""

    help = "Write the built-in workflows into the database."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write them and name them."""
        for workflow in sync_workflows():
            self.stdout.write(f"{workflow.slug} {workflow.version}")
