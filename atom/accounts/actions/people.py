"""Accounts of people and programs: deactivated with all that acts in their name, and back."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.actions.keys import revoke_keys_of
from atom.accounts.actions.sessions import end_sessions
from atom.accounts.errors import OwnAccount
from atom.accounts.models import Invitation, Project, User
from atom.core.errors import NotFound


@transaction.atomic
def deactivate(user: User, actor: User, project: Project | None = None) -> None:
    """Deactivate the user: keys, sessions and invitations end. Raises OwnAccount."""
    if user.pk == actor.pk:
        raise OwnAccount
    # Lock first: two administrators may deactivate each other.
    locked = {
        one.pk: one
        for one in User.objects.select_for_update()
        .filter(Q(pk__in=(user.pk, actor.pk)) | Q(is_superuser=True))
        .order_by("pk")
    }
    if not locked[actor.pk].is_active:
        raise NotFound
    found = locked[user.pk]
    if not found.is_active:
        return
    found.is_active = False
    found.save(update_fields=["is_active"])
    audit.record(actor, "user.deactivated", found, project, name=found.username)
    revoke_keys_of(found, actor)
    end_sessions(found, actor)
    Invitation.objects.pending().filter(invited_by=found).update(revoked_at=Now(), updated_at=Now())


@transaction.atomic
def reactivate(user: User, actor: User, project: Project | None = None) -> None:
    """Let them in again, with their roles; they must make new keys."""
    found = User.objects.select_for_update().get(pk=user.pk)
    if not found.is_active:
        found.is_active = True
        found.save(update_fields=["is_active"])
        audit.record(actor, "user.reactivated", found, project, name=found.username)
