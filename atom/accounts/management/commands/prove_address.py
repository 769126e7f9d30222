"""`manage.py prove_address`: where neither a mail nor a provider can show whose an address is."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from atom.accounts.actions.passwords import prove_address
from atom.accounts.reads import people


class Command(BaseCommand):
    """Vouches for the addresses of people, from the server's own machine."""

    help = (
        "Note that the e-mail addresses of these people are theirs; single sign-on may link them."
    )
    # They would import every view, and show warnings of libraries that this does without.
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("usernames", nargs="+", metavar="username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Note it for each; nothing is noted if one has no address."""
        names = set(options["usernames"])
        found = list(people().filter(username__in=names).exclude(email="").order_by("username"))
        if missing := sorted(names - {user.username for user in found}):
            raise CommandError(f"There is nobody called {', '.join(missing)} with an address.")
        for user in found:
            prove_address(user, None)
            self.stdout.write(f"{user.email} is the address of {user.username}")
