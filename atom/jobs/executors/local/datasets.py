"""Puts the datasets of an attempt where its command looks for them, and takes them away again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from atom.cache.delivery.actions.job_views import (
    hide_from_job,
    set_streams_aside,
    show_to_job,
    stream_to_job,
)
from atom.cache.delivery.actions.mounts import mount_for_job
from atom.cache.delivery.actions.views import view_for
from atom.jobs import states
from atom.jobs.deliveries import MOUNT, STREAM
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Attempt, RunInput
from atom_sdk.amounts import counted
from atom_sdk.mount import MountRecord


def show_datasets(
    attempt: Attempt, gid: int | None, is_alive: Callable[[UUID], bool] | None = None
) -> None:
    """Show what the run's selectors leave of its datasets; safe to repeat.

    The attempt takes over what earlier attempts streamed, if `is_alive` says that they have ended.
    Raises SelectionEmpty, ViewNotReady, MountError, OSError.
    """
    if attempt.node is None:
        return
    for one in attempt.run.inputs.select_related("version__dataset__project").order_by("alias"):
        if one.delivery == STREAM:
            earlier = _ended_before(attempt, is_alive) if is_alive else []
            stream_to_job(one.version, attempt.pk, one.alias, one.selector, gid, earlier)
            continue
        view = view_for(one.version, attempt.node, one.selector)
        show_to_job(view, attempt.pk, one.alias, gid)
        if one.delivery == MOUNT:
            _note_mount(attempt, one, mount_for_job(one.version, attempt.pk, one.alias))


def _ended_before(attempt: Attempt, is_alive: Callable[[UUID], bool]) -> list[UUID]:
    """Return the attempts of the run that have no process any more, the latest first."""
    others = attempt.run.attempts.filter(number__lt=attempt.number, state__in=states.TERMINAL)
    ended = others.order_by("-number").values_list("pk", flat=True)
    return [other for other in ended if not is_alive(other)]


def _note_mount(attempt: Attempt, one: RunInput, mounted: MountRecord) -> None:
    """Record the way of mounting, and why no better one, for the run's page."""
    if one.mounted_by == mounted.how:
        return  # a worker that died afterwards has recorded it
    one.mounted_by, one.mount_skipped = mounted.how, [list(pair) for pair in mounted.skipped]
    one.save(update_fields=["mounted_by", "mount_skipped", "updated_at"])
    why = "".join(f" Not by {how}: {reason}." for how, reason in mounted.skipped)
    files = counted(mounted.files, "file")
    text = (
        f"{one.alias} is a folder of {files}, mounted by {mounted.how}.{_links_text(mounted)}{why}"
    )
    data: dict[str, Any] = {"alias": one.alias, "how": mounted.how, "files": mounted.files}
    if mounted.links or mounted.links_left_out:
        data |= {"links": mounted.links, "links_left_out": mounted.links_left_out}
    record(attempt.run, EventKind.MOUNTED, text, attempt, **data, skipped=one.mount_skipped)


def _links_text(mounted: MountRecord) -> str:
    said = f" {counted(mounted.links, 'link')} shown as links." if mounted.links else ""
    if mounted.links_left_out:
        said += f" Left out: {counted(mounted.links_left_out, 'link')} out of the version."
    return said


def hide_datasets(is_alive: Callable[[UUID], bool], shown: set[UUID]) -> None:
    """Remove the datasets of ended attempts, once their processes are gone.

    Streamed data of a run's last attempt stays until the next one takes it over or the run ends.
    """
    known = Attempt.objects.filter(pk__in=shown).exclude(state__in=states.TERMINAL)
    followed = _to_be_followed(shown)
    for attempt_id in shown - set(known.values_list("pk", flat=True)):
        if is_alive(attempt_id):
            continue
        if aliases := followed.get(attempt_id):
            set_streams_aside(attempt_id, aliases)
        else:
            hide_from_job(attempt_id)


def _to_be_followed(shown: set[UUID]) -> dict[UUID, set[str]]:
    """Return the ended attempts whose run has a retry to come, with the inputs they streamed."""
    later = Attempt.objects.filter(run=OuterRef("run"), number__gt=OuterRef("number"))
    is_last = ~Exists(later.filter(state__in=states.TERMINAL))
    ended = Attempt.objects.filter(is_last, pk__in=shown, state__in=states.TERMINAL)
    again = ended.exclude(run__state__in=states.TERMINAL).prefetch_related("run__inputs")
    return {
        attempt.pk: {one.alias for one in attempt.run.inputs.all() if one.delivery == STREAM}
        for attempt in again
    }
