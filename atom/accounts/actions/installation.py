"""The first things of an installation."""

from __future__ import annotations

from django.db import transaction

from atom.accounts.actions.units import create_project, create_unit
from atom.accounts.models import Organisation, Project, Unit, User


@transaction.atomic
def ensure_installation(username: str, password: str) -> tuple[User, Project, bool]:
    """Make the administrator, the first organisation and the project `demo` if they are missing.

    An existing administrator keeps the password. Returns the user, the project and whether
    the user is new.
    """
    user, created = User.objects.get_or_create(
        username=username,
        defaults={"is_staff": True, "is_superuser": True, "full_name": "Administrator"},
    )
    if created:
        user.set_password(password)
        user.save()
    organisation, _ = Organisation.objects.get_or_create(name="Default organisation")
    unit = Unit.objects.filter(organisation=organisation, parent=None).first()
    if unit is None:
        unit = create_unit(organisation, None, "Everyone", user)
    project = Project.objects.filter(slug="demo").first()
    if project is None:
        project = create_project(unit, "demo", "Demo", user)
    return user, project, created
