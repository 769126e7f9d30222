"""`manage.py ensure_admin`: the administrator, the first organisation and a first project."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from atom.accounts.actions import ensure_installation


class Command(BaseCommand):
    """Reads the password from `ATOM_ADMIN_PASSWORD`, so that no process list shows it."""

    help = "Create the administrator if missing; the password comes from ATOM_ADMIN_PASSWORD."

    def handle(self, *args: Any, **options: Any) -> None:
        """Create what is missing; running it again changes nothing."""
        password = os.environ.get("ATOM_ADMIN_PASSWORD", "")
        if not password:
            raise CommandError("Set ATOM_ADMIN_PASSWORD.")
        username = os.environ.get("ATOM_ADMIN_USERNAME", "admin")
        _, project, created = ensure_installation(username, password)
        word = "created" if created else "already there"
        self.stdout.write(f"administrator {username}: {word}; project {project.slug}")
