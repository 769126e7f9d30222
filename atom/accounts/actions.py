"""Every write of people, projects, roles, tokens and S3 key pairs."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import authenticate
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest

from atom.accounts import audit
from atom.accounts.errors import BadCredentials, TooManyAttempts
from atom.accounts.models import (
    ApiToken,
    Organisation,
    Project,
    RoleBinding,
    S3KeyPair,
    Unit,
    User,
)
from atom.core import clock
from atom.core.crypto import encrypt, hash_token

# Ten wrong passwords for one name from one address, then a pause.
MAX_ATTEMPTS = 10
ATTEMPT_WINDOW_S = 300


@dataclass(frozen=True)
class NewToken:
    """A token as its owner sees it once: `secret` is not stored anywhere."""

    token: ApiToken
    secret: str


def check_password(request: HttpRequest, username: str, password: str) -> User:
    """Return the user. Raises BadCredentials, or TooManyAttempts after ten failures."""
    address = request.META.get("REMOTE_ADDR", "")
    key = f"login:{address}:{username.lower()}"[:200]
    attempts = int(cache.get(key, 0))
    if attempts >= MAX_ATTEMPTS:
        wait_s = ATTEMPT_WINDOW_S
        raise TooManyAttempts(headers={"Retry-After": str(wait_s)}, retry_after_s=wait_s)
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        cache.set(key, attempts + 1, ATTEMPT_WINDOW_S)
        raise BadCredentials
    cache.delete(key)
    return user


@dataclass(frozen=True)
class NewS3KeyPair:
    """An S3 key pair as its owner sees it once: `secret` is stored encrypted and never shown."""

    pair: S3KeyPair
    secret: str


@transaction.atomic
def create_token(
    user: User,
    name: str,
    scopes: list[str],
    project: Project | None = None,
    expires_at: datetime | None = None,
) -> NewToken:
    """Make an API token. The secret is in the answer and nowhere else."""
    prefix = secrets.token_hex(5)
    secret = secrets.token_urlsafe(32).replace("_", "-")
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=prefix,
        secret_hash=hash_token(secret),
        scopes=sorted(set(scopes)),
        project=project,
        expires_at=expires_at,
    )
    audit.record(user, "token.created", token, project, name=name, scopes=token.scopes)
    return NewToken(token, f"atom_{prefix}_{secret}")


@transaction.atomic
def revoke_token(token: ApiToken, actor: User) -> None:
    """Make a token worthless at once; revoking twice is fine."""
    if token.revoked_at is None:
        token.revoked_at = clock.now()
        token.save(update_fields=["revoked_at", "updated_at"])
        audit.record(actor, "token.revoked", token, token.project, name=token.name)


@transaction.atomic
def create_s3_key_pair(
    user: User, name: str, project: Project, expires_at: datetime | None = None
) -> NewS3KeyPair:
    """Make a pair that reads the versions of one project through the S3 endpoint."""
    secret = secrets.token_urlsafe(30)
    pair = S3KeyPair.objects.create(
        user=user,
        name=name,
        project=project,
        access_key_id=_new_access_key_id(),
        encrypted_secret=encrypt(secret),
        expires_at=expires_at,
    )
    said = {"name": name, "access_key_id": pair.access_key_id}
    audit.record(user, "s3_key_pair.created", pair, project, **said)
    return NewS3KeyPair(pair, secret)


def _new_access_key_id() -> str:
    """Return 20 upper-case letters and digits, as S3 tools expect them; 80 random bits."""
    return "ATOM" + base64.b32encode(secrets.token_bytes(10)).decode()


@transaction.atomic
def revoke_s3_key_pair(pair: S3KeyPair, actor: User) -> None:
    """Make a pair worthless within a minute; revoking twice is fine."""
    if pair.revoked_at is None:
        pair.revoked_at = clock.now()
        pair.save(update_fields=["revoked_at", "updated_at"])
        said = {"name": pair.name, "access_key_id": pair.access_key_id}
        audit.record(actor, "s3_key_pair.revoked", pair, pair.project, **said)


def create_unit(organisation: Organisation, parent: Unit | None, name: str) -> Unit:
    """Add a unit to the tree."""
    unit = Unit(organisation=organisation, parent=parent, name=name)
    unit.path = f"{parent.path if parent else '/'}{unit.pk.hex}/"
    unit.save()
    return unit


@transaction.atomic
def create_project(unit: Unit, slug: str, name: str, actor: User | None) -> Project:
    """Add a project under a unit."""
    project = Project.objects.create(unit=unit, slug=slug, name=name)
    audit.record(actor, "project.created", project, project, slug=slug)
    return project


@transaction.atomic
def grant_role(
    user: User, role: str, scope: Unit | Project, actor: User | None = None
) -> RoleBinding:
    """Give `user` a role on a project or on everything under a unit; replaces the old role."""
    where = {"project": scope} if isinstance(scope, Project) else {"unit": scope}
    binding, _ = RoleBinding.objects.update_or_create(user=user, **where, defaults={"role": role})
    project = scope if isinstance(scope, Project) else None
    audit.record(actor, "role.granted", binding, project, user=user.username, role=role)
    return binding


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
        unit = create_unit(organisation, None, "Everyone")
    project = Project.objects.filter(slug="demo").first()
    if project is None:
        project = create_project(unit, "demo", "Demo", user)
    return user, project, created
