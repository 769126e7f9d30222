"""Service accounts: users for programs, with a role where they belong and nowhere else."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from atom.accounts import audit
from atom.accounts.actions.keys import NewToken, create_token
from atom.accounts.actions.members import grant_role
from atom.accounts.actions.units import lock_tree
from atom.accounts.errors import AccountInactive
from atom.accounts.models import Project, ServiceAccount, User
from atom.accounts.reads import Scope, direct_binding, scope_fields, unit_of
from atom.core.errors import AlreadyExists
from atom_sdk.sentences import Sentence

_TAIL = 6


@transaction.atomic
def create_service_account(scope: Scope, name: str, role: str, actor: User) -> ServiceAccount:
    """Make a service account that nobody signs in as by password. Raises AlreadyExists."""
    lock_tree(unit_of(scope).organisation_id)
    username = f"{name}@{_called(scope)}"
    if User.objects.filter(username__iexact=username).exists():
        raise AlreadyExists(
            Sentence(
                "accounts.account_exists",
                "There is an account {username} already.",
                username=username,
            )
        )
    user = User(username=username, full_name="")
    user.set_unusable_password()
    user.save(force_insert=True)
    account = ServiceAccount.objects.create(
        user=user, name=name, created_by=actor, **scope_fields(scope)
    )
    said = {"name": username, "role": role}
    audit.record(actor, "service_account.created", account, _project(scope), **said)
    grant_role(user, role, scope, actor)
    return account


@transaction.atomic
def change_service_role(account: ServiceAccount, role: str, actor: User) -> None:
    """Give the account another role where it belongs."""
    lock_tree(unit_of(account.scope).organisation_id)
    present = direct_binding(account.scope, account.user_id)
    if present is None or present.role != role:
        grant_role(account.user, role, account.scope, actor)


@transaction.atomic
def create_service_token(
    account: ServiceAccount, name: str, scopes: list[str], expires_at: datetime | None, actor: User
) -> NewToken:
    """Make a token of the account; that of a project works in it only."""
    user = User.objects.select_for_update().get(pk=account.user_id)
    if not user.is_active:
        raise AccountInactive
    return create_token(user, name, scopes, account.project, expires_at, actor)


def _called(scope: Scope) -> str:
    return scope.slug if isinstance(scope, Project) else f"unit-{scope.pk.hex[-_TAIL:]}"


def _project(scope: Scope) -> Project | None:
    return scope if isinstance(scope, Project) else None
