"""Links that show one run to people without an account: made, opened, ended.

The holder of a link that does not work gets the same answer for every reason. The link may be
unknown, expired, ended or switched off, its run archived, or its maker without the role.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest

from atom.accounts import audit
from atom.accounts.actions.signing_in import counted_attempt
from atom.accounts.models import User
from atom.accounts.permissions import administers
from atom.core import clock
from atom.core.crypto import hash_token
from atom.core.errors import NotFound, Throttled
from atom.core.rate_limits import Limit, network_of
from atom.jobs.errors import NotYourShare, RunArchived, ShareUnknown, SharingIsOff, TooManyShares
from atom.jobs.models import Run, RunShare

TOKEN_PREFIX = "atomshare_"
MAX_DAYS = 90
MAX_LIVING = 20
_SEEN_STEP = timedelta(minutes=1)
_AT_ONCE = 500


@dataclass(frozen=True)
class NewShare:
    """A link as its maker sees it once: the token is stored nowhere."""

    share: RunShare
    token: str

    @property
    def link(self) -> str:
        """Return the portal's address. Browsers send no part after the #, so no server logs it."""
        return f"{settings.ATOM_PUBLIC_URL}/shared-run#{self.token}"


@transaction.atomic
def share_run(run: Run, actor: User, days: int, note: str, with_log: bool) -> NewShare:
    """Make a link to a run. Raises SharingIsOff, RunArchived, TooManyShares."""
    if not settings.ATOM_SHARE_LINKS:
        raise SharingIsOff
    # Lock first: two requests may each make the last one that is allowed.
    locked = Run.objects.select_for_update(of=("self",)).get(pk=run.pk)
    if locked.archived_at is not None:
        raise RunArchived
    if RunShare.objects.living().filter(run=run).count() >= MAX_LIVING:
        raise TooManyShares
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    made = RunShare.objects.create(
        run=run,
        project=run.project,
        token_hash=hash_token(token),
        note=note,
        with_log=with_log,
        created_by=actor,
        expires_at=clock.now() + timedelta(days=days),
    )
    said = {"share": str(made.pk), "note": note, "days": days, "with_log": with_log}
    audit.record(actor, "run.shared", run, run.project, name=run.name, **said)
    return NewShare(made, token)


@transaction.atomic
def end_share(run: Run, share_id: UUID, actor: User) -> None:
    """End a link; twice is fine. Raises NotFound, NotYourShare."""
    rows = RunShare.objects.select_for_update(of=("self",))
    share = rows.filter(run=run, pk=share_id).first()
    if share is None:
        raise NotFound
    if share.created_by_id != actor.pk and not administers(actor, run.project):
        raise NotYourShare
    if share.ended_at is None:
        _end(share, run, actor)


def end_unbacked() -> int:
    """End the links whose maker may not write the run any more; return how many.

    A right that is given back must not bring old links back with it.
    """
    living = RunShare.objects.living()
    lost = living.exclude(pk__in=RunShare.objects.living().backed().values("pk"))
    ids = list(lost.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
    return sum(_end_unbacked(share_id) for share_id in ids)


@transaction.atomic
def _end_unbacked(share_id: UUID) -> bool:
    rows = RunShare.objects.select_for_update(skip_locked=True, of=("self",))
    share = rows.select_related("run__project").filter(pk=share_id, ended_at=None).first()
    if share is None:
        return False
    _end(share, share.run, None)
    return True


def _end(share: RunShare, run: Run, actor: User | None) -> None:
    share.ended_at = clock.now()
    share.save(update_fields=["ended_at", "updated_at"])
    said = {"share": str(share.pk), "note": share.note}
    audit.record(actor, "run.share_ended", run, run.project, name=run.name, **said)


def open_share(token: str, request: HttpRequest) -> RunShare:
    """Return the link of a token that works now, and note that it was seen.

    Raises ShareUnknown, whatever the reason; Throttled after too many of them from one address.
    """
    address = network_of(request.META.get("REMOTE_ADDR", ""))
    limit = Limit("run-share-address", address, settings.ATOM_RATE_SIGN_IN_ADDRESS)
    with counted_attempt(limit, refusal=Throttled):
        found = _find(token)
        if found is None:
            raise ShareUnknown
    # Several looks at once note it once.
    before = Q(last_seen_at=None) | Q(last_seen_at__lt=Now() - _SEEN_STEP)
    RunShare.objects.filter(before, pk=found.pk).update(last_seen_at=Now())
    return found


def _find(token: str) -> RunShare | None:
    # Found by the hash: how long that takes says nothing of how much of a token was right.
    wanted = hash_token(token)
    if not settings.ATOM_SHARE_LINKS:
        return None
    working = RunShare.objects.living().backed().filter(run__archived_at=None)
    return working.filter(token_hash=wanted).select_related("run__project").first()
