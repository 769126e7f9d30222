"""`manage.py add_member`: a person and their role in a project, from the server's own machine."""

from __future__ import annotations

import os
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from atom.accounts import actions
from atom.accounts.engines.user_names import is_of_program
from atom.accounts.models import ROLES, Project, User


class Command(BaseCommand):
    """A new person's password comes from `ATOM_MEMBER_PASSWORD`, so no process list shows it."""

    help = "Add a person to a project, and make the person if there is none of that name."
    # They would import every view.
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("username")
        parser.add_argument("--project", required=True)
        parser.add_argument("--role", choices=ROLES, required=True)
        parser.add_argument("--full-name", default="")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        """Create what is missing; running it again only sets the role."""
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}.")
        user = User.objects.filter(username=options["username"]).first() or _make_user(options)
        actions.grant_role(user, options["role"], project)
        self.stdout.write(f"{user.username} is {options['role']} in {project.slug}")


def _make_user(options: dict[str, Any]) -> User:
    password = os.environ.get("ATOM_MEMBER_PASSWORD", "")
    if not password:
        raise CommandError("Set ATOM_MEMBER_PASSWORD for a new person.")
    if is_of_program(options["username"]):
        raise CommandError("A name with @ is a service account's unless it is an e-mail address.")
    user = User(username=options["username"], full_name=options["full_name"])
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise CommandError(f"ATOM_MEMBER_PASSWORD is refused: {' '.join(weak.messages)}") from weak
    return User.objects.create_user(user.username, password=password, full_name=user.full_name)
