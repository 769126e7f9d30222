"""`manage.py reset_second_factor`: for the last administrator, who cannot ask another one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from atom.accounts.actions.second_factor import reset_second_factor
from atom.accounts.reads import people


class Command(BaseCommand):
    """Forgets a lost second factor, from the server's own machine."""

    help = "Forget a person's second factor, and end their sessions."
    # They would import every view, and show warnings of libraries that this does without.
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Forget it; the next sign-in needs the password only."""
        user = people().filter(username=options["username"]).first()
        if user is None or not reset_second_factor(user, None):
            raise CommandError(f"There is nobody called {options['username']} with one.")
        self.stdout.write(f"{user.username} signs in without a second factor")
