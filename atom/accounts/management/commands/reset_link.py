"""`manage.py reset_link`: a way back in for somebody, from the server's own machine."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from atom.accounts.actions.passwords import reset_link
from atom.accounts.reads import people


class Command(BaseCommand):
    """Prints a link that sets a new password once, within a day."""

    help = "Print a link with which a person sets a new password."
    # They would import every view, and show warnings of libraries that this does without.
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link; nothing changes until it is used."""
        user = people().filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is nobody called {options['username']} who may sign in.")
        self.stdout.write(reset_link(user))
