"""Files that a run leaves: announced, uploaded to staging, verified, then durable."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from blake3 import blake3
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.core import live, storage
from atom.core.leases import kept
from atom.core.states import check_transition
from atom.jobs import effects, states
from atom.jobs.errors import OutputIncomplete
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Artifact, Attempt, Run, RunEvent
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

PUT_EXPIRES_S = 3600
CHECKPOINT = "checkpoint"
# Shorter than the time that the end of an attempt waits for its outputs.
LEASE = timedelta(seconds=20)
_RENEW_EVERY_S = 5.0
_ASKED_AT_ONCE = 200
_RANK_FOLDER = re.compile(r"^checkpoints/[^/]+/rank-(\d+)/")


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file as the runner announces it."""

    path: str
    size_bytes: int
    sha256: str
    kind: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class OutputUpload:
    """Where to put a file; `url` is None if its bytes are stored already."""

    artifact: Artifact
    url: str | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The files of one durable checkpoint."""

    step: int
    attempt_number: int
    files: list[Artifact]


def path_of_rank(rank: int, path: str) -> str:
    """Return where a run's outputs have a file that a rank wrote.

    Those of rank 0 keep their paths; others go to a folder of their rank: two ranks may write files
    of one name. Checkpoints of all ranks stay together, by step.
    """
    if not rank:
        return path
    folder, _, rest = path.partition("/")
    if folder == "checkpoints" and "/" in rest:
        step, _, inside = rest.partition("/")
        return f"{folder}/{step}/rank-{rank}/{inside}"
    return f"rank-{rank}/{path}"


def rank_of_path(path: str) -> int:
    """Return the rank that wrote a file of a checkpoint, by its path."""
    found = _RANK_FOLDER.match(path)
    return int(found.group(1)) if found else 0


def announce(attempt: Attempt, files: Iterable[OutputFile]) -> list[OutputUpload]:
    """Record the files and return where to upload their bytes; safe to repeat."""
    uploads = [_announce_file(attempt, file) for file in files]
    # Notify here: a checkpoint whose bytes are all stored already is never verified again.
    stored = [one.artifact for one in uploads if one.url is None]
    steps = {one.step for one in stored if one.kind == CHECKPOINT and one.step is not None}
    for step in sorted(steps):
        with transaction.atomic():
            _notify_checkpoint(attempt, step)
    return uploads


def _announce_file(attempt: Attempt, file: OutputFile) -> OutputUpload:
    stored = Artifact.objects.filter(
        run_id=attempt.run_id,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        state=states.PERSISTED,
    ).first()
    artifact, _ = Artifact.objects.get_or_create(
        attempt=attempt,
        path=file.path,
        sha256=file.sha256,
        defaults={
            "run_id": attempt.run_id,
            "size_bytes": file.size_bytes,
            "kind": file.kind,
            "step": file.step,
            "state": states.PERSISTED if stored else states.LOCAL,
            "digest": stored.digest if stored else "",
            "key": stored.key if stored else "",
        },
    )
    if artifact.state == states.PERSISTED:
        return OutputUpload(artifact, None)
    return OutputUpload(
        artifact, storage.objects().presign_put(staging_key(artifact), PUT_EXPIRES_S)
    )


def staging_key(artifact: Artifact) -> str:
    """Return where the runner puts the bytes; it never gets an address of the final key."""
    return f"staging/outputs/{artifact.pk}"


def complete(attempt: Attempt, ids: Iterable[UUID]) -> list[Artifact]:
    """Check the sizes and have the bytes verified. Raises OutputIncomplete."""
    artifacts = list(attempt.artifacts.filter(pk__in=list(ids)))
    for artifact in artifacts:
        if artifact.state == states.PERSISTED:
            continue
        info = storage.objects().head_or_none(staging_key(artifact))
        is_whole = info is not None and info.size_bytes == artifact.size_bytes
        unsettled = Artifact.objects.filter(pk=artifact.pk).exclude(state=states.PERSISTED)
        if is_whole and unsettled.update(state=states.LOCAL, verify_asked_at=Now()):
            effects.verify(artifact.pk)
            continue
        # Since we looked, it may have been verified, or forgotten with the end of its attempt.
        stored = Artifact.objects.filter(pk=artifact.pk, state=states.PERSISTED).first()
        if stored is None:
            raise OutputIncomplete(
                Sentence(
                    "jobs.artifact_incomplete",
                    "'{path}' has not arrived whole.",
                    path=artifact.path,
                ),
                path=artifact.path,
            )
        artifact.state = stored.state
    return artifacts


def forget_unsent(attempt: Attempt) -> None:
    """Remove what was announced and never sent, once the runner sends nothing more.

    Such a file was replaced or removed before it could be sent, as older checkpoints are, or its
    runner was killed. Call it in a transaction.
    """
    unsent = attempt.artifacts.filter(state=states.LOCAL, verify_asked_at=None, claimed_until=None)
    # Locked: a file that is completed meanwhile must not be removed after it was acknowledged.
    locked = unsent.select_for_update().values_list("pk", flat=True)
    attempt.artifacts.filter(pk__in=list(locked)).delete()


def verify_stalled() -> None:
    """Have files verified whose task was lost, or whose worker died."""
    stalled = Artifact.objects.filter(
        Q(claimed_until=None) | Q(claimed_until__lt=Now()),
        state=states.LOCAL,
        verify_asked_at__lt=Now() - LEASE,
    )
    for pk in list(stalled.values_list("pk", flat=True)[:_ASKED_AT_ONCE]):
        if stalled.filter(pk=pk).update(verify_asked_at=Now(), claimed_until=None):
            log.warning("output_verified_again", artifact_id=str(pk))
            effects.verify(pk)


def verify(artifact_id: UUID) -> None:
    """Copy an uploaded file out of the runner's reach, then hash the copy."""
    artifact = _claim(artifact_id)
    if artifact is None:
        return
    with kept(lambda: _renew(artifact_id), _RENEW_EVERY_S):
        try:
            _verify(artifact)
        except BaseException:
            # The next tick but a few asks again.
            Artifact.objects.filter(pk=artifact_id).update(claimed_until=None)
            raise


def _claim(artifact_id: UUID) -> Artifact | None:
    """Take a file to verify: one worker at a time, or two copies could overtake each other."""
    free = Q(claimed_until=None) | Q(claimed_until__lt=Now())
    mine = Artifact.objects.filter(free, pk=artifact_id, state=states.LOCAL)
    if not mine.update(claimed_until=Now() + LEASE):
        return None
    return Artifact.objects.select_related("run").get(pk=artifact_id)


def _renew(artifact_id: UUID) -> None:
    rows = Artifact.objects.filter(pk=artifact_id, state=states.LOCAL)
    rows.update(claimed_until=Now() + LEASE)


def _verify(artifact: Artifact) -> None:
    objects = storage.objects()
    key = f"p/{artifact.run.project_id}/runs/{artifact.run_id}/outputs/{artifact.pk}"
    try:
        objects.copy(staging_key(artifact), key)
    except storage.ObjectMissing:
        # The runner learns that it is refused, and may send it again.
        _settle(artifact, states.FAILED)
        return
    sha256, digest = hashlib.sha256(), blake3()
    for chunk in objects.views(key):
        sha256.update(chunk)
        digest.update(chunk)
    if sha256.hexdigest() == artifact.sha256:
        _settle(artifact, states.PERSISTED, key=key, digest=digest.hexdigest())
    else:
        log.warning("output_digest_mismatch", artifact_id=str(artifact.pk), path=artifact.path)
        objects.delete(key)
        _settle(artifact, states.FAILED)
    objects.delete(staging_key(artifact))


def _settle(artifact: Artifact, state: str, *, key: str = "", digest: str = "") -> None:
    check_transition(states.ARTIFACT_STATES, artifact.state, state)
    with transaction.atomic():
        moved = Artifact.objects.filter(pk=artifact.pk, state=states.LOCAL).update(
            state=state, key=key, digest=digest, verify_asked_at=None, claimed_until=None
        )
        if moved:
            _notify(artifact, state)


def _notify(artifact: Artifact, state: str) -> None:
    event = {"type": "file", "id": str(artifact.pk), "state": state}
    live.publish(f"run.{artifact.run_id}", event)
    if state == states.FAILED:
        text = f"The file '{artifact.path}' was refused: its bytes are not what was announced."
        path = artifact.path
        record(artifact.run, EventKind.OUTPUT_REFUSED, text, artifact.attempt, path=path)
        return
    if artifact.kind == CHECKPOINT and artifact.step is not None:
        _notify_checkpoint(artifact.attempt, artifact.step)


def _notify_checkpoint(attempt: Attempt, step: int) -> None:
    """Record, once, that all files of a checkpoint are durable, be it the newest or not."""
    # Two files may be settled at once, and one of the two must see both.
    Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    files = Artifact.objects.filter(attempt=attempt, kind=CHECKPOINT, step=step)
    told = RunEvent.objects.filter(attempt=attempt, kind=EventKind.CHECKPOINT, data__step=step)
    if files.exclude(state=states.PERSISTED).exists() or told.exists():
        return
    paths = files.values_list("path", flat=True)
    if {rank_of_path(path) for path in paths} != _writing_ranks(attempt.run_id):
        return  # the part of another rank is still to come
    size_bytes = sum(files.values_list("size_bytes", flat=True))
    text = f"The checkpoint of step {step} is safe ({size_bytes} bytes)."
    data = {"step": step, "size_bytes": size_bytes}
    record(attempt.run, EventKind.CHECKPOINT, text, attempt, **data)


def _writing_ranks(run_id: UUID) -> set[int]:
    """Return the ranks that have written checkpoints of a run."""
    rows = Artifact.objects.filter(run_id=run_id, kind=CHECKPOINT, step__isnull=False)
    return {rank_of_path(path) for path in rows.values_list("path", flat=True)}


def latest_checkpoint(run: Run) -> Checkpoint | None:
    """Return the newest checkpoint of which every file is durable.

    It has a part of each rank that has ever written one: of shards, all are needed.
    """
    files = list(
        run.artifacts.filter(kind=CHECKPOINT, step__isnull=False)
        .select_related("attempt")
        .order_by("-step", "-attempt__number", "path", "-created_at")
    )
    groups: dict[tuple[int, int], list[Artifact]] = {}
    for file in files:
        groups.setdefault((file.step or 0, file.attempt.number), []).append(file)
    ranks = {rank_of_path(file.path) for file in files}
    for (step, number), group in groups.items():
        is_whole = {rank_of_path(file.path) for file in group} == ranks
        if is_whole and all(file.state == states.PERSISTED for file in group):
            newest = {file.path: file for file in reversed(group)}
            return Checkpoint(step, number, list(newest.values()))
    return None
