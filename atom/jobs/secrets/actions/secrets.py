"""Secrets of a project: set, remove, give to a run. Values leave only to a runner."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, crypto
from atom.core.errors import NotFound
from atom.jobs.errors import SecretsMissing, TooManySecrets
from atom.jobs.models import ProjectSecret, Run
from atom_sdk.sentences import Sentence

MAX_SECRETS = 200
# A private key has 3 kB; the system's limit for one variable is 128 KiB.
MAX_VALUE_BYTES = 64 << 10


def set_secret(
    project: Project, user: User, name: str, value: str, description: str | None = None
) -> tuple[ProjectSecret, bool]:
    """Store a value, in place of the one that had the name; return whether the name is new.

    Without a description the one that it has stays. Raises TooManySecrets.
    """
    with transaction.atomic():
        # Lock first: two that set the same name at once, or the last free place.
        Project.objects.select_for_update().get(pk=project.pk)
        of_project = ProjectSecret.objects.filter(project=project)
        found = of_project.filter(name=name).first()
        if found is None and of_project.count() >= MAX_SECRETS:
            raise TooManySecrets
        is_new = found is None
        secret = found or ProjectSecret(project=project, name=name)
        secret.encrypted_value = crypto.encrypt(value)
        secret.set_by, secret.set_at = user, clock.now()
        if description is not None:
            secret.description = description
        secret.save()
        audit.record(user, "secret.stored", secret, project, name=name, replaced=not is_new)
    return secret, is_new


def remove_secret(project: Project, user: User, name: str) -> None:
    """Forget a value. Runs that name it and have not started will fail. Raises NotFound."""
    with transaction.atomic():
        secret = ProjectSecret.objects.filter(project=project, name=name).first()
        if secret is None:
            raise NotFound
        audit.record(user, "secret.removed", secret, project, name=name)
        secret.delete()


def values_for(run: Run) -> dict[str, str]:
    """Return the values of the secrets that a run needs.

    Raises SecretsMissing, also if one cannot be decrypted any more.
    """
    if not run.secrets:
        return {}
    found = ProjectSecret.objects.filter(project=run.project, name__in=run.secrets)
    values = {secret.name: value_of(secret) for secret in found}
    if missing := sorted(set(run.secrets) - values.keys()):
        raise SecretsMissing(
            Sentence(
                "jobs.secret_gone",
                "The project has no secret {secret} any more.",
                secret=", ".join(missing),
            )
        )
    found.update(last_used_at=clock.now())
    return values


def value_of(secret: ProjectSecret) -> str:
    """Return a secret's value. Raises SecretsMissing if it is of another encryption key."""
    try:
        return crypto.decrypt(secret.encrypted_value)
    except crypto.BadSignature as error:
        raise SecretsMissing(
            Sentence(
                "jobs.secret_of_another_key",
                "The secret {secret} was stored with another encryption key.",
                secret=secret.name,
            )
        ) from error


def unknown_names(project: Project, names: Sequence[str]) -> list[str]:
    """Return those of the names that the project has no secret of."""
    of_project = ProjectSecret.objects.filter(project=project, name__in=names)
    known = set(of_project.values_list("name", flat=True))
    return [name for name in names if name not in known]
