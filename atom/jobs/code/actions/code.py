"""Code snapshots: uploaded once per digest, checked before a run may use them."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

from blake3 import blake3

from atom.accounts.models import Project, User
from atom.core import storage
from atom.core.errors import NotFound
from atom.jobs.errors import CodeIncomplete
from atom.jobs.models import CodeChanges, CodeSnapshot

PUT_EXPIRES_S = 3600


def announce(
    project: Project,
    *,
    digest: str,
    size_bytes: int,
    files_count: int,
    git: dict[str, Any] | None,
    changes: dict[str, Any] | None = None,
) -> CodeSnapshot:
    """Return the snapshot of this digest and commit; it is there already, or waits for its bytes.

    `changes` are those since the commit that `git` names: `patch` and `truncated`.
    """
    snapshot, _ = CodeSnapshot.objects.get_or_create(
        project=project,
        digest=digest,
        git_digest=git_digest(git),
        defaults={
            "size_bytes": size_bytes,
            "files_count": files_count,
            "git": git,
            "key": _key(project, digest),
        },
    )
    if changes is not None and git:
        CodeChanges.objects.get_or_create(snapshot=snapshot, defaults=changes)
    _adopt_bytes(snapshot)
    return snapshot


def git_digest(git: dict[str, Any] | None) -> str:
    """Return the digest of the facts about a working tree; empty if there are none."""
    return blake3(json.dumps(git, sort_keys=True).encode()).hexdigest() if git else ""


def _adopt_bytes(snapshot: CodeSnapshot) -> None:
    """Mark it as ready if the same files were sent with another commit before."""
    if snapshot.ready:
        return
    there = CodeSnapshot.objects.filter(
        project=snapshot.project_id, digest=snapshot.digest, ready=True
    ).first()
    if there is not None:
        mark_ready(snapshot, there.sha256)


def put_url(snapshot: CodeSnapshot) -> str:
    """Return where to put the bytes."""
    return storage.objects().presign_put(snapshot.key, PUT_EXPIRES_S)


def complete(snapshot_id: UUID, user: User) -> CodeSnapshot:
    """Check the uploaded bytes against the announced size and digest. Raises CodeIncomplete."""
    visible = Project.objects.visible_to(user)
    snapshot = CodeSnapshot.objects.filter(pk=snapshot_id, project__in=visible).first()
    if snapshot is None:
        raise NotFound
    _adopt_bytes(snapshot)
    if not snapshot.ready:
        mark_ready(snapshot, _check(snapshot))
    return snapshot


def mark_ready(snapshot: CodeSnapshot, sha256: str) -> None:
    """Note that the bytes are there and right."""
    snapshot.ready, snapshot.sha256 = True, sha256
    snapshot.save(update_fields=["ready", "sha256", "updated_at"])


def _check(snapshot: CodeSnapshot) -> str:
    """Return the SHA-256 of the stored bytes, if their size and BLAKE3 are right."""
    objects = storage.objects()
    info = objects.head_or_none(snapshot.key)
    if info is None or info.size_bytes != snapshot.size_bytes:
        raise CodeIncomplete
    digest, sha256 = blake3(), hashlib.sha256()
    for chunk in objects.views(snapshot.key):
        digest.update(chunk)
        sha256.update(chunk)
    if digest.hexdigest() != snapshot.digest:
        objects.delete(snapshot.key)
        raise CodeIncomplete
    return sha256.hexdigest()


def store(project: Project, data: bytes, files_count: int) -> CodeSnapshot:
    """Store the code of a built-in workflow as a snapshot of the project."""
    snapshot = announce(
        project,
        digest=blake3(data).hexdigest(),
        size_bytes=len(data),
        files_count=files_count,
        git=None,
    )
    if not snapshot.ready:
        storage.objects().put(snapshot.key, data)
        mark_ready(snapshot, hashlib.sha256(data).hexdigest())
    return snapshot


def _key(project: Project, digest: str) -> str:
    return f"p/{project.pk}/code/{digest}.tar.gz"
