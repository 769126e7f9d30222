"""Retention: versions that fall out expire; until they are collected they can be restored."""

from __future__ import annotations

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock, states
from atom.datasets.catalog import catalogue_log
from atom.datasets.catalog.engines.ancestry import fork_points
from atom.datasets.errors import VersionCollected
from atom.datasets.models import Branch, Dataset, LegalHold, Version
from atom.datasets.retention.engines.retention import NumberedVersion, Policy, falling_out
from atom.datasets.states import VERSION_STATES
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_MAIN = "main"


def set_retention(dataset: Dataset, policy: Policy, user: User | None) -> Dataset:
    """Decide which versions stay by themselves; what falls out expires in the next night."""
    with transaction.atomic():
        locked = _locked(dataset)
        locked.retention, locked.retention_limit = policy.kind, policy.limit
        locked.save(update_fields=["retention", "retention_limit", "updated_at"])
        catalogue_log.write_dataset(locked)
        audit.record(
            user, "dataset.retention_changed", locked, locked.project, locked,
            name=locked.name, kind=policy.kind, limit=policy.limit,
        )  # fmt: skip
    return locked


def due_versions(dataset: Dataset, policy: Policy, now: datetime) -> QuerySet[Version]:
    """Return the versions of `main` that would expire under a policy, oldest first."""
    numbered = dataset.versions.filter(number__isnull=False)
    rows = numbered.values_list("id", "number", "created_at")
    out = falling_out((NumberedVersion(pk, no or 0, at) for pk, no, at in rows), policy, now)
    if _whole_hold(dataset).exists():
        return Version.objects.none()
    unprotected = dataset.versions.filter(
        Q(tags__isnull=True) & Q(pins__isnull=True), pk__in=out, state="kept"
    )
    heads = Branch.objects.filter(dataset=dataset, head__isnull=False).values("head_id")
    held = _open_holds(dataset).filter(version__isnull=False).values("version_id")
    unneeded = unprotected.exclude(pk__in=heads).exclude(pk__in=held)
    return unneeded.exclude(commit__in=_left_at(dataset)).order_by("number")


def _left_at(dataset: Dataset) -> set[str]:
    """The commits where branches and open writers left `main`: no merge works without them."""
    heads = dict(
        Branch.objects.filter(dataset=dataset, head__isnull=False).values_list(
            "name", "head__commit"
        )
    )
    trunk = heads.pop(_MAIN, "")
    if not heads:
        return set()
    parents = dict(dataset.versions.values_list("commit", "parents"))
    return fork_points(parents, trunk, heads.values())


def expire_versions(dataset: Dataset) -> list[Version]:
    """Expire what fell out of the dataset's retention; returns it. Repeatable."""
    now = clock.now()
    expired = []
    with transaction.atomic():
        dataset = _locked(dataset)
        policy = Policy(dataset.retention, dataset.retention_limit)
        # A version's pins are made under a lock of its row: wait for them, and look for pins
        # afterwards.
        chosen = list(due_versions(dataset, policy, now).values_list("pk", flat=True))
        list(Version.objects.select_for_update().filter(pk__in=chosen).order_by("pk"))
        for version in due_versions(dataset, policy, now).filter(pk__in=chosen):
            _move(version, "expired", now)
            expired.append(version)
        if expired:
            audit.record(
                None, "version.expired", dataset, dataset.project, dataset,
                name=dataset.name, versions=[version.ref for version in expired],
            )  # fmt: skip
    return expired


def expire_staged(dataset: Dataset, versions: QuerySet[Version]) -> None:
    """Expire versions of a staging branch that is gone; what somebody else needs stays."""
    if _whole_hold(dataset).exists():
        return
    now = clock.now()
    heads = Branch.objects.filter(dataset=dataset, head__isnull=False).values("head_id")
    held = _open_holds(dataset).filter(version__isnull=False).values("version_id")
    unneeded = versions.filter(state="kept", tags__isnull=True, pins__isnull=True)
    unneeded = unneeded.exclude(pk__in=heads).exclude(pk__in=held)
    for version in unneeded.select_for_update(of=("self",)):
        version.dataset = dataset
        _move(version, "expired", now)


def restore_version(version: Version, user: User | None) -> Version:
    """Keep an expired version again; a kept one stays. Raises VersionCollected."""
    with transaction.atomic():
        locked = Version.objects.select_for_update(of=("self",)).select_related("dataset__project")
        found = locked.get(pk=version.pk)
        if found.state == "collected":
            raise VersionCollected(
                Sentence(
                    "datasets.version_collected",
                    "{dataset}@{ref} was collected.",
                    dataset=found.dataset.name,
                    ref=found.ref,
                )
            )
        if found.state == "expired":
            _move(found, "kept", None)
            audit.record(
                user, "version.restored", found, found.dataset.project, found.dataset,
                dataset=found.dataset.name, ref=found.ref,
            )  # fmt: skip
    return found


def expire_version(version: Version, at: datetime) -> None:
    """Expire a version that is kept; the caller has locked it. Repeatable."""
    if version.state == "kept":
        _move(version, "expired", at)


def collect_version(version: Version) -> None:
    """Close the way back of an expired version; the next sweep takes its files."""
    with transaction.atomic():
        found = Version.objects.select_for_update().filter(pk=version.pk, state="expired").first()
        if found is not None:
            found.dataset = version.dataset
            _move(found, "collected", found.expired_at)


def place_hold(
    dataset: Dataset, version: Version | None, reason: str, user: User | None
) -> LegalHold:
    """Keep a dataset or one version until it is released; what had expired is kept again.

    Raises VersionCollected if the one version is gone already.
    """
    with transaction.atomic():
        _locked(dataset)
        if version is not None:
            restore_version(version, user)
        else:
            for expired in dataset.versions.filter(state="expired"):
                restore_version(expired, user)
        hold = LegalHold.objects.create(
            dataset=dataset, version=version, reason=reason, placed_by=user
        )
        catalogue_log.write_hold(hold)
        named = {**_audit_details(hold), "reason": reason}
        audit.record(user, "hold.placed", hold, dataset.project, dataset, **named)
    return hold


def release_hold(hold: LegalHold, user: User | None) -> LegalHold:
    """End a hold; doing it twice changes nothing."""
    with transaction.atomic():
        _locked(hold.dataset)
        open_hold = LegalHold.objects.filter(pk=hold.pk, released_at__isnull=True)
        if open_hold.update(released_at=clock.now(), released_by=user):
            hold.refresh_from_db()
            catalogue_log.write_hold(hold)
            about, named = hold.dataset, _audit_details(hold)
            audit.record(user, "hold.released", hold, about.project, about, **named)
    return hold


def _audit_details(hold: LegalHold) -> dict[str, str]:
    return {"dataset": hold.dataset.name, "ref": hold.version.ref if hold.version else ""}


def _locked(dataset: Dataset) -> Dataset:
    rows = Dataset.objects.select_for_update(of=("self",)).select_related("project", "created_by")
    return rows.get(pk=dataset.pk)


def _open_holds(dataset: Dataset) -> QuerySet[LegalHold]:
    return LegalHold.objects.filter(dataset=dataset, released_at__isnull=True)


def _whole_hold(dataset: Dataset) -> QuerySet[LegalHold]:
    return _open_holds(dataset).filter(version__isnull=True)


def _move(version: Version, state: str, expired_at: datetime | None) -> None:
    states.check_transition(VERSION_STATES, version.state, state)
    version.state, version.expired_at = state, expired_at
    version.save(update_fields=["state", "expired_at", "updated_at"])
    catalogue_log.write_version_state(version, state, expired_at)
    log.info("version_moved", version_id=str(version.pk), state=state)
