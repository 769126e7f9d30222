"""Invitations: a link that gives a role once, made, sent again, taken back and accepted."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.actions.members import grant_role
from atom.accounts.actions.passwords import check_new_password
from atom.accounts.actions.units import lock_tree
from atom.accounts.errors import (
    AccountExists,
    AlreadyMember,
    InvitationExpired,
    InvitationNotPending,
    InvitationRevoked,
    InvitationUnknown,
    InvitationUsed,
)
from atom.accounts.models import RANK, Invitation, Project, RoleBinding, User
from atom.accounts.permissions import administers
from atom.accounts.pipelines import mail_invitation
from atom.accounts.reads import Scope, direct_binding, scope_fields, unit_of
from atom.core import clock, outbox
from atom.core.crypto import BadSignature, hash_token, sign, unsign
from atom.core.errors import AlreadyExists
from atom_sdk.sentences import Sentence

_PURPOSE = "invitation"
# Only the mailed link has it, so its holder can read the mail of the address.
_MAILED = "mailed"
MailState = Literal["sent", "failed", "off", "none"]


@dataclass(frozen=True)
class NewInvitation:
    """An invitation as its maker sees it once: the link is stored nowhere."""

    invitation: Invitation
    link: str
    mail: MailState


@dataclass(frozen=True)
class NewPerson:
    """The account that an invited person asks for."""

    username: str
    full_name: str
    email: str
    password: str


def invite(scope: Scope, actor: User, role: str, email: str, days: int) -> NewInvitation:
    """Make an invitation, and mail it if there is an address and a mail server.

    A pending one for the same address gets a new link. Raises AlreadyMember.
    """
    with transaction.atomic():
        # Lock first: two requests for one address must not both make a link for it.
        lock_tree(unit_of(scope).organisation_id)
        if email and (person := User.objects.filter(email__iexact=email).first()):
            _refuse_member(scope, person)
        pending = Invitation.objects.pending().filter(**scope_fields(scope))
        found = pending.filter(email__iexact=email).select_for_update().first() if email else None
        invitation = found or Invitation(email=email, **scope_fields(scope))
        invitation.role, invitation.invited_by = role, actor
        token = _seal(invitation, days)
        said = {"email": email, "role": role}
        audit.record(actor, "invitation.created", invitation, _project(scope), **said)
    return _deliver(invitation, actor, token)


def renew_invitation(invitation: Invitation, actor: User, days: int) -> NewInvitation:
    """Make a new link, and mail it; the old one is worthless. Raises InvitationNotPending."""
    with transaction.atomic():
        locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
        if locked.accepted_at or locked.revoked_at:
            raise InvitationNotPending
        locked.invited_by = actor
        token = _seal(locked, days)
        project = _project(locked.scope)
        audit.record(actor, "invitation.renewed", locked, project, email=locked.email)
    return _deliver(locked, actor, token)


@transaction.atomic
def revoke_invitation(invitation: Invitation, actor: User) -> None:
    """Take an invitation back; twice is fine. Raises InvitationNotPending if it was accepted."""
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if locked.accepted_at:
        raise InvitationNotPending
    if locked.revoked_at is None:
        locked.revoked_at = clock.now()
        locked.save(update_fields=["revoked_at", "updated_at"])
        project = _project(locked.scope)
        audit.record(actor, "invitation.revoked", locked, project, email=locked.email)


def open_invitation(token: str, *, lock: bool = False) -> Invitation:
    """Return the invitation of a link that can be accepted.

    Raises InvitationUnknown, or an InvitationOver that says why it cannot be used any more.
    """
    try:
        payload = unsign(token, _PURPOSE)
        pk, shown = payload["id"], _sealed(payload["id"], payload["key"])
    except (BadSignature, KeyError):
        raise InvitationUnknown from None
    rows = Invitation.objects.select_related("project__unit", "unit", "invited_by")
    found = (rows.select_for_update(of=("self",)) if lock else rows).filter(pk=pk).first()
    if found is None or not hmac.compare_digest(found.token_hash, hash_token(shown)):
        raise InvitationRevoked
    if found.accepted_at:
        raise InvitationUsed
    if found.revoked_at or not _may_still_invite(found):
        raise InvitationRevoked
    if found.expires_at <= clock.now():
        raise InvitationExpired
    return found


@transaction.atomic
def accept_as(user: User, token: str) -> Invitation:
    """Give the role to somebody who is signed in; a higher one that they have stays."""
    invitation = open_invitation(token, lock=True)
    _accept(invitation, user)
    return invitation


@transaction.atomic
def accept_as_new(person: NewPerson, token: str) -> User:
    """Make an account and give it the role. Raises AccountExists and AlreadyExists."""
    invitation = open_invitation(token, lock=True)
    email = invitation.email or person.email
    if email and User.objects.filter(email__iexact=email).exists():
        raise AccountExists
    name = User.normalize_username(person.username)
    if User.objects.filter(username__iexact=name).exists():
        raise AlreadyExists(
            Sentence(
                "accounts.user_exists",
                "There is an account with the name {name} already.",
                name=name,
            )
        )
    user = User(username=name, full_name=person.full_name, email=email)
    if invitation.email and _MAILED in unsign(token, _PURPOSE):
        user.email_proven_at = clock.now()
    check_new_password(person.password, user, "password")
    user.set_password(person.password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as taken:
        raise AlreadyExists(
            Sentence(
                "accounts.name_or_email_just_taken",
                "Another account took this name or address a moment ago.",
            )
        ) from taken
    audit.record(user, "user.created", user, name=name)
    _accept(invitation, user)
    return user


def has_pending(email: str) -> bool:
    """Return whether an address has an invitation that could be accepted now."""
    return bool(_pending_of(email))


def accept_pending(user: User, email: str) -> None:
    """Give the roles for which an address was invited to whom it was proven to belong."""
    for invitation in _pending_of(email):
        _accept(invitation, user)


def _pending_of(email: str) -> list[Invitation]:
    rows = Invitation.objects.pending().filter(email__iexact=email, expires_at__gt=Now())
    rows = rows.select_related("project__unit", "unit", "invited_by")
    return [one for one in rows.select_for_update(of=("self",)) if _may_still_invite(one)]


def _may_still_invite(invitation: Invitation) -> bool:
    inviter = invitation.invited_by
    return inviter is not None and inviter.is_active and administers(inviter, invitation.scope)


def _accept(invitation: Invitation, user: User) -> None:
    scope = invitation.scope
    present = direct_binding(scope, user.pk)
    if present is None or RANK[present.role] < RANK[invitation.role]:
        grant_role(user, invitation.role, scope, invitation.invited_by)
    Invitation.objects.filter(pk=invitation.pk).update(
        accepted_at=Now(), accepted_by=user, updated_at=Now()
    )
    said = {"user": user.username, "role": invitation.role}
    audit.record(user, "invitation.accepted", invitation, _project(scope), **said)
    inviter, project = invitation.invited_by_id, _project(scope)
    outbox.emit(
        project.pk if project else None,
        "invitation.accepted",
        people=[inviter] if inviter != user.pk else [],
        subject=invitation.pk,
        username=user.get_full_name(),
        role=invitation.role,
        place=scope.name,
    )


def _refuse_member(scope: Scope, person: User) -> None:
    if RoleBinding.objects.filter(user=person, **scope_fields(scope)).exists():
        raise AlreadyMember(
            Sentence(
                "accounts.member_exists_by_email",
                "{user} has this address and a role here already.",
                user=person.username,
            )
        )


def _seal(invitation: Invitation, days: int) -> str:
    """Save the invitation with a new token, which is returned."""
    token = _sealed(str(invitation.pk), secrets.token_urlsafe(24))
    invitation.token_hash = hash_token(token)
    invitation.expires_at = clock.now() + timedelta(days=days)
    invitation.mailed_at = None
    invitation.save()
    return token


def _sealed(pk: str, key: str, **more: int) -> str:
    return sign({"id": pk, "key": key, **more}, _PURPOSE)


def _deliver(invitation: Invitation, actor: User, token: str) -> NewInvitation:
    link = _link(token)
    if not invitation.email:
        return NewInvitation(invitation, link, "none")
    if not settings.ATOM_SENDS_MAIL:
        return NewInvitation(invitation, link, "off")
    payload = unsign(token, _PURPOSE)
    mailed = _sealed(payload["id"], payload["key"], **{_MAILED: 1})
    taken = mail_invitation(
        invitation.email,
        actor.language,
        inviter=actor.full_name or actor.username,
        place=invitation.scope.name,
        role=invitation.role,
        link=_link(mailed),
        until=f"{invitation.expires_at:%Y-%m-%d %H:%M}",
    )
    if not taken:
        return NewInvitation(invitation, link, "failed")
    invitation.mailed_at = clock.now()
    invitation.save(update_fields=["mailed_at", "updated_at"])
    return NewInvitation(invitation, link, "sent")


def _link(token: str) -> str:
    return f"{settings.ATOM_PUBLIC_URL}/invite/{token}"


def _project(scope: Scope) -> Project | None:
    return scope if isinstance(scope, Project) else None
