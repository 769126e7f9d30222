"""People whom a provider of single sign-on vouches for: found, linked, or made."""

from __future__ import annotations

import re
from collections.abc import Iterable

import structlog
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.actions.invitations import accept_pending, has_pending
from atom.accounts.actions.members import change_role, grant_role, remove_member
from atom.accounts.engines.user_names import is_of_program
from atom.accounts.errors import LastAdministrator, SingleSignOnFailed
from atom.accounts.models import RANK, ExternalIdentity, Project, Unit, User
from atom.accounts.oidc import Claims
from atom.accounts.reads import Scope, direct_binding, people
from atom.core import clock
from atom.settings.oidc import GroupRole

log = structlog.get_logger(__name__)

_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")
_NAME_CHARS = 150
_FULL_NAME_CHARS = 200


def sign_in_as(claims: Claims) -> User:
    """Return the person of these claims, with the roles of their groups.

    Raises SingleSignOnFailed where there is no account for them, and none is made.
    """
    try:
        with transaction.atomic():
            user = _known(claims) or _linked(claims) or _made(claims)
    except IntegrityError:
        # Two windows at once: the other one has made the account.
        with transaction.atomic():
            found = _known(claims)
        if found is None:
            raise SingleSignOnFailed("sso_address") from None
        user = found
    _give_roles(user, claims.groups)
    return user


def _known(claims: Claims) -> User | None:
    """Return the user with this subject, whatever the address is now."""
    rows = ExternalIdentity.objects.filter(issuer=_issuer(), subject=claims.subject)
    found = rows.select_related("user").first()
    if found is None:
        return None
    rows.update(last_used_at=Now(), updated_at=Now())
    return _active(found.user)


def _linked(claims: Claims) -> User | None:
    """Return the user with this address, or None if there is none.

    Raises SingleSignOnFailed unless the settings link accounts by address and the account's own
    address is proven.
    """
    address = claims.email
    found = people().filter(email__iexact=address).first() if address else None
    if found is None:
        return None
    if not settings.ATOM_OIDC.links_by_email or found.email_proven_at is None:
        raise SingleSignOnFailed("sso_address")
    _remember(_active(found), claims)
    audit.record(found, "user.identity_linked", found, name=found.username, issuer=_issuer())
    return found


def _made(claims: Claims) -> User:
    newcomers = settings.ATOM_OIDC.newcomers
    address = _storable(claims.email)
    is_invited = bool(address) and has_pending(address)
    if newcomers == "nobody" or (newcomers == "invited" and not is_invited):
        raise SingleSignOnFailed("sso_nobody")
    user = User(
        username=_free_name(claims),
        email=address,
        email_proven_at=clock.now() if address else None,
        full_name=claims.full_name[:_FULL_NAME_CHARS],
        language=claims.language,
    )
    user.set_unusable_password()
    user.save(force_insert=True)
    audit.record(user, "user.created", user, name=user.username, issuer=_issuer())
    _remember(user, claims)
    if is_invited:
        accept_pending(user, address)
    return user


def _remember(user: User, claims: Claims) -> None:
    ExternalIdentity.objects.create(
        user=user, issuer=_issuer(), subject=claims.subject, last_used_at=Now()
    )


def _active(user: User) -> User:
    if not user.is_active:
        raise SingleSignOnFailed("sso_deactivated")
    return user


def _storable(address: str) -> str:
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def _free_name(claims: Claims) -> str:
    """Return a free user name near the provider's name of the person."""
    wanted = _NOT_IN_NAMES.sub("-", User.normalize_username(claims.username)).strip("-")
    wanted = wanted[: _NAME_CHARS - 10] or "person"
    if is_of_program(wanted):
        wanted = wanted.replace("@", "-")
    name, number = wanted, 1
    while User.objects.filter(username__iexact=name).exists():
        number += 1
        name = f"{wanted}-{number}"
    return name


def _issuer() -> str:
    issuer: str = settings.ATOM_OIDC.issuer
    return issuer


def _give_roles(user: User, groups: frozenset[str]) -> None:
    """Make the roles in the places that the settings name those of the person's groups.

    These places are the provider's: a role that no group gives is taken away there.
    """
    rules: tuple[GroupRole, ...] = settings.ATOM_OIDC.roles
    for place in dict.fromkeys((rule.project, rule.unit) for rule in rules):
        scope = _scope(*place)
        if scope is None:
            log.warning("oidc_place_unknown", project=place[0], unit=place[1])
            continue
        here = (rule for rule in rules if (rule.project, rule.unit) == place)
        _set_role(user, scope, _highest(rule.role for rule in here if rule.group in groups))


def _set_role(user: User, scope: Scope, role: str | None) -> None:
    present = direct_binding(scope, user.pk)
    try:
        if present is None and role is not None:
            grant_role(user, role, scope)
        elif present is not None and role is None:
            remove_member(user, scope, user)
        elif present is not None and role is not None:
            change_role(user, role, scope, user)
    except LastAdministrator:
        # Somebody has to administer it; the audit log shows that nothing was changed.
        log.warning("oidc_last_administrator_kept", user_id=str(user.pk))


def _highest(roles: Iterable[str]) -> str | None:
    return max(roles, key=RANK.__getitem__, default=None)


def _scope(project: str, unit: str) -> Scope | None:
    if project:
        return Project.objects.select_related("unit").filter(slug=project).first()
    return Unit.objects.filter(pk=unit).first()
