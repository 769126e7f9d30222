"""Adding pictures to guidelines, and deleting those that no guideline names."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, storage
from atom.core.errors import NotFound, Unavailable
from atom.labeling.engines.guideline_child import MAX_PIXELS, OTHER_FORMAT, TOO_LARGE
from atom.labeling.engines.guideline_pictures import BUSY, HEAVY, MadePicture, make_picture
from atom.labeling.errors import (
    GuidelinePictureInUse,
    GuidelinePicturesFull,
    GuidelinePictureTooLarge,
    GuidelinePictureUnreadable,
)
from atom.labeling.models import GuidelinePicture, OntologyVersion
from atom.labeling.models.guideline_pictures import FOLDER, picture_ids
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

MAX_BYTES: Final = 10_000_000
MAX_PICTURES: Final = 500
# A request that stores a picture ends long before: its row is there by then, or never will be.
ORPHANED_AFTER: Final = timedelta(days=1)
_MOST_NAMES: Final = 5


def add_picture(project: Project, user: User, data: bytes) -> tuple[GuidelinePicture, bool]:
    """Store a picture for the project's guidelines; return it, and whether it is new.

    The same bytes are one picture, however often they are sent. Raises GuidelinePictureTooLarge,
    GuidelinePictureUnreadable, GuidelinePicturesFull.
    """
    if len(data) > MAX_BYTES:
        raise GuidelinePictureTooLarge(
            Sentence(
                "labeling.guideline_picture_bytes", "It has more than {most} bytes.", most=MAX_BYTES
            )
        )
    sha256 = hashlib.sha256(data).digest()
    if (known := _known(project, sha256)) is not None:
        return known, False
    _check_room(project)
    return _store(project, user, sha256, _made(data))


def _known(project: Project, sha256: bytes) -> GuidelinePicture | None:
    return GuidelinePicture.objects.filter(project=project, sha256=sha256).first()


def _check_room(project: Project) -> None:
    if GuidelinePicture.objects.filter(project=project).count() >= MAX_PICTURES:
        raise GuidelinePicturesFull(
            Sentence(
                "labeling.guideline_pictures_full", "It has {most} already.", most=MAX_PICTURES
            )
        )


def _made(data: bytes) -> MadePicture:
    if not data:
        raise GuidelinePictureUnreadable(
            Sentence("labeling.guideline_picture_empty", "The file is empty.")
        )
    made = make_picture(data)
    if made.reason == BUSY:
        raise Unavailable(
            Sentence("labeling.guideline_pictures_busy", "The server is busy with other pictures.")
        )
    if made.reason == TOO_LARGE:
        raise GuidelinePictureTooLarge(
            Sentence(
                "labeling.guideline_picture_pixels",
                "It has more than {most} pixels.",
                most=MAX_PIXELS,
            )
        )
    if made.reason:
        raise GuidelinePictureUnreadable(_why(made.reason))
    return made


def _why(reason: str) -> Sentence:
    if reason == OTHER_FORMAT:
        return Sentence(
            "labeling.guideline_picture_format", "It is no PNG, JPEG, WebP or GIF picture."
        )
    if reason == HEAVY:
        return Sentence(
            "labeling.guideline_picture_heavy", "Decoding it takes too much memory or time."
        )
    return Sentence("labeling.guideline_picture_broken", "The picture is damaged or ends early.")


@transaction.atomic
def _store(
    project: Project, user: User, sha256: bytes, made: MadePicture
) -> tuple[GuidelinePicture, bool]:
    """Make the row and its object, unless another request has stored the same bytes meanwhile."""
    # One at a time: requests at once may not pass the limit together.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if (known := _known(project, sha256)) is not None:
        return known, False
    _check_room(project)
    picture = GuidelinePicture.objects.create(
        project=project,
        sha256=sha256,
        media_type=made.media_type,
        size_bytes=len(made.data),
        width=made.width,
        height=made.height,
        created_by=user,
    )
    # Before the commit: a row always has its object.
    storage.objects().put(picture.key, made.data)
    audit.record(user, "guideline_picture.added", picture, project, size_bytes=picture.size_bytes)
    return picture, True


@transaction.atomic
def delete_picture(picture: GuidelinePicture, user: User) -> None:
    """Delete a picture that no guideline names. Raises GuidelinePictureInUse, NotFound."""
    locked = GuidelinePicture.objects.select_for_update().filter(pk=picture.pk).first()
    if locked is None:
        raise NotFound
    uses = names_of_uses(locked.project, [locked.pk])[locked.pk]
    if uses:
        raise GuidelinePictureInUse(_named_by(uses))
    key, pk = locked.key, locked.pk
    audit.record(user, "guideline_picture.deleted", locked, locked.project)
    GuidelinePicture.objects.filter(pk=pk).delete()
    transaction.on_commit(partial(storage.objects().delete, key))


def delete_orphans(after: timedelta = ORPHANED_AFTER) -> int:
    """Delete pictures without a row whose objects are older than `after`; return how many.

    A process that dies between the object and its row leaves one, as does a failed deletion.
    """
    before = clock.now() - after
    count = 0
    for project_id in Project.objects.values_list("pk", flat=True).iterator():
        objects = storage.objects().list_prefix(f"p/{project_id}/{FOLDER}")
        old = [stored.key for stored in objects if stored.modified_at < before]
        # The rows are read after the objects: a row that appears meanwhile keeps its own.
        known = GuidelinePicture.objects.filter(project_id=project_id) if old else ()
        for key in sorted(set(old) - {picture.key for picture in known}):
            storage.objects().delete(key)
            count += 1
    if count:
        log.info("guideline_pictures_orphaned", deleted=count)
    return count


def _named_by(uses: list[str]) -> Sentence:
    names = ", ".join(uses[:_MOST_NAMES])
    more = len(uses) - _MOST_NAMES
    if more > 0:
        return Sentence(
            "labeling.guideline_picture_named_more",
            "These guidelines name it: {names} and {more} more.",
            names=names,
            more=more,
        )
    return Sentence(
        "labeling.guideline_picture_named", "These guidelines name it: {names}.", names=names
    )


def names_of_uses(project: Project, pictures: Iterable[UUID]) -> dict[UUID, list[str]]:
    """Return for each picture the ontology versions whose guidelines name it, as `signs v2`."""
    uses: dict[UUID, list[str]] = {picture: [] for picture in pictures}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, guideline in _guidelines(project):
        for picture in picture_ids(guideline):
            found[picture].append(name)
    return {picture: found[str(picture)] for picture in uses}


def _guidelines(project: Project) -> Iterator[tuple[str, str]]:
    rows = OntologyVersion.objects.filter(
        ontology__project=project, guideline__icontains="picture:"
    ).order_by("ontology__name", "number")
    for name, number, guideline in rows.values_list(
        "ontology__name", "number", "guideline"
    ).iterator(chunk_size=100):
        yield f"{name} v{number}", guideline


def hold_pictures(project: Project, guideline: str) -> None:
    """Keep the pictures that a guideline names until the caller's transaction has saved it."""
    ids = sorted(picture_ids(guideline))
    if ids:
        held = GuidelinePicture.objects.filter(project=project, pk__in=ids).order_by("pk")
        list(held.select_for_update(no_key=True).values_list("pk", flat=True))
