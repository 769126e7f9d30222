"""Files that a run's program sends through the server, which has hashed them on their way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now

from atom.core import live, storage
from atom.core.ids import uuid7
from atom.jobs import states
from atom.jobs.models import Artifact, Attempt, Run

OUTPUT, MODEL = "output", "model"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file whose bytes are at `key`, where only the server can write."""

    path: str
    key: str
    size_bytes: int
    sha256: str
    blake3: str
    kind: str = OUTPUT


def new_key(run: Run) -> str:
    """Return where the bytes of another file of the run go."""
    return f"p/{run.project_id}/runs/{run.pk}/outputs/{uuid7()}"


@transaction.atomic
def keep_file(attempt: Attempt, file: StoredFile) -> Artifact:
    """Record a stored file as the current one of its path, in place of the one before.

    If the same bytes come again, their file counts as the newest.
    """
    # Lock first: of two that send one path, the later is the one that stays.
    Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    there = attempt.artifacts.filter(path=file.path)
    same = there.filter(sha256=file.sha256, state=states.PERSISTED).first()
    if same is not None:
        there.filter(pk=same.pk).update(created_at=Now(), updated_at=Now())
        _forget_object(file.key)
        kept = same
    else:
        # The row of a file that a runner announced here, with the same digest, and never sent.
        there.filter(sha256=file.sha256).delete()
        kept = Artifact.objects.create(
            run_id=attempt.run_id,
            attempt=attempt,
            path=file.path,
            key=file.key,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            digest=file.blake3,
            kind=file.kind,
            state=states.PERSISTED,
        )
    _let_go(there.exclude(pk=kept.pk))
    event = {"type": "file", "id": str(kept.pk), "state": states.PERSISTED}
    live.publish(f"run.{attempt.run_id}", event)
    return kept


@transaction.atomic
def remove_files(run: Run, path: str) -> int:
    """Remove the file at `path`, or all below it; return how many are kept by a model version."""
    below = run.artifacts.filter(path__startswith=f"{path}/") if path else run.artifacts.all()
    kept = _let_go(below | run.artifacts.filter(path=path))
    live.publish(f"run.{run.pk}", {"type": "file", "state": "removed"})
    return kept


def files_of(run: Run, path: str = "") -> list[Artifact]:
    """Return the newest stored file of each path at or below `path`, by path."""
    rows = run.artifacts.filter(state=states.PERSISTED)
    if path:
        rows = rows.filter(path__startswith=path)
    newest: dict[str, Artifact] = {}
    for row in rows.select_related("attempt").order_by("attempt__number", "created_at", "id"):
        if not path or row.path == path or row.path.startswith(f"{path}/"):
            newest[row.path] = row
    return [newest[name] for name in sorted(newest)]


def _let_go(files: Iterable[Artifact]) -> int:
    """Delete the files that nothing holds on to; return how many are held."""
    held = 0
    for file in files:
        try:
            with transaction.atomic():
                file.delete()
        except ProtectedError:
            # A model version or another run reads it: it stays, under what they recorded.
            held += 1
            continue
        if file.key:
            _forget_object(file.key)
    return held


def _forget_object(key: str) -> None:
    # Files with the same bytes may share one object.
    def forget() -> None:
        if not Artifact.objects.filter(key=key).exists():
            storage.objects().delete(key)

    transaction.on_commit(forget)
