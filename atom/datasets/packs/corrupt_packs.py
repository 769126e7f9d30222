"""Facts of quarantined packs: where each was found, which push sent it, which files it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from atom.core.storage import project_store
from atom.datasets.models import Dataset, Pack, Upload, Version
from atom.datasets.packs.pipelines import read_pack_index
from atom_sdk.errors import ObjectNotFoundError

_SHOWN_PATHS = 3
IN_UPLOAD, IN_STORE = "upload", "store"
ACTIONS = {
    IN_UPLOAD: "Push the folder again; nothing of the damaged pack was used.",
    IN_STORE: "Push the folder that the files came from again: the pack is replaced by a good one.",
}


def root_to_build_on(version: Version) -> str:
    """Return the root of a version from which an operation takes entries.

    The committed root, since a repeated commit must be the same commit, and a compaction may come
    in between. With corrupt packs it is the layout, which may name others. For a repacked version
    it is the layout as well, since the packs of the root may be gone.
    """
    if version.is_repacked or not version.layout:
        return version.readable_root
    packs = Pack.objects.filter(project=version.dataset.project_id, state="quarantined")
    return version.layout if packs.exists() else version.root


@dataclass(frozen=True)
class Damage:
    """One quarantined pack; `push` is the newest upload of it into the dataset.

    A pack that was refused on its way in has no files here: no version ever had it.
    """

    pack: Pack
    push: Upload
    found_in: str
    paths: tuple[str, ...] = ()
    files_count: int = 0

    @property
    def action(self) -> str:
        """Return what to do next."""
        return ACTIONS[self.found_in]


def quarantined_packs(dataset: Dataset) -> QuerySet[Pack]:
    """Return the quarantined packs that a push brought into the dataset."""
    packs = Pack.objects.filter(project=dataset.project, state="quarantined")
    return packs.filter(Exists(_uploads(dataset).filter(digest=OuterRef("digest"))))


def describe(dataset: Dataset, packs: Sequence[Pack]) -> list[Damage]:
    """Return what is known of each pack, in the same order; one query, one object per pack."""
    uploads = _uploads(dataset).filter(digest__in=[pack.digest for pack in packs])
    pushes: dict[str, Upload] = {}
    verified: set[str] = set()
    for upload in uploads.select_related("created_by").order_by("created_at", "id"):
        pushes[upload.digest] = upload
        if upload.state == "verified":
            verified.add(upload.digest)
    return [_damage(dataset, pack, pushes[pack.digest], pack.digest in verified) for pack in packs]


def _uploads(dataset: Dataset) -> QuerySet[Upload]:
    return Upload.objects.filter(dataset=dataset, kind="pack")


def _damage(dataset: Dataset, pack: Pack, push: Upload, was_verified: bool) -> Damage:
    if not was_verified:
        return Damage(pack, push, IN_UPLOAD)
    try:
        paths = read_pack_index(project_store(dataset.project), pack.digest)["path"]
    except ObjectNotFoundError:
        return Damage(pack, push, IN_STORE)
    return Damage(pack, push, IN_STORE, tuple(paths[:_SHOWN_PATHS].to_pylist()), len(paths))
