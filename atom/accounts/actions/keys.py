"""API tokens and S3 key pairs: made, revoked, and ended with the access that they gave."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import ApiToken, Project, S3KeyPair, User
from atom.accounts.reads import reaching_binding
from atom.core import clock
from atom.core.crypto import encrypt, hash_token


@dataclass(frozen=True)
class NewToken:
    """A token as its owner sees it once: `secret` is not stored anywhere."""

    token: ApiToken
    secret: str


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
    actor: User | None = None,
) -> NewToken:
    """Make an API token of `user`. The secret is in the answer and nowhere else."""
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
    said = {"name": name, "scopes": token.scopes, "user": user.username}
    audit.record(actor or user, "token.created", token, project, **said)
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


def revoke_lost_keys(projects: QuerySet[Project], actor: User | None) -> None:
    """Revoke what is bound to `projects` and whose owner has no role there any more.

    A role that is given back later must not bring old keys back with it.
    """
    lost = Q(revoked_at=None, user__is_superuser=False, project__in=projects) & ~reaching_binding()
    _revoke_all(ApiToken.objects.filter(lost), "token.revoked", actor)
    _revoke_all(S3KeyPair.objects.filter(lost), "s3_key_pair.revoked", actor)


def revoke_keys_of(user: User, actor: User | None) -> None:
    """Revoke every key of a person or service account who is deactivated."""
    mine = Q(revoked_at=None, user=user)
    _revoke_all(ApiToken.objects.filter(mine), "token.revoked", actor)
    _revoke_all(S3KeyPair.objects.filter(mine), "s3_key_pair.revoked", actor)


def _revoke_all(keys: QuerySet[Any], verb: str, actor: User | None) -> None:
    rows = list(keys.select_related("project", "user"))
    keys.model.objects.filter(pk__in=[row.pk for row in rows]).update(revoked_at=Now())
    for row in rows:
        audit.record(actor, verb, row, row.project, name=row.name, user=row.user.username)
