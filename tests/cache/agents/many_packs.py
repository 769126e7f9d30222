"""A version whose files are in one pack each, with or without the bytes in the object store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blake3 import blake3
from django.utils import timezone

from atom.core.storage import objects, project_prefix, project_store
from atom.datasets.keys import pack_key
from atom.datasets.models import Dataset, Pack, Version
from atom_sdk.manifests import (
    Commit,
    Entry,
    build_root,
    entries_table,
    write_commit,
    write_root,
)
from tests.factories.datasets import make_dataset


def version_of_packs(
    digests: Iterable[bytes], pack_bytes: int | Sequence[int], dataset: Dataset | None = None
) -> Version:
    """Return the next version of a dataset (a new one): a file of `pack_bytes` in each pack.

    `pack_bytes`: bytes of all packs alike, or of each.
    """
    dataset = dataset or make_dataset()
    store = project_store(dataset.project)
    packs = list(digests)
    sizes = [pack_bytes] * len(packs) if isinstance(pack_bytes, int) else pack_bytes
    entries = [
        Entry(f"{at:06}.bin", size, digest, "", None, digest, 0)
        for at, (digest, size) in enumerate(zip(packs, sizes, strict=True))
    ]
    root = build_root([entries_table(entries)], store)
    digest = write_root(root, store)
    commit = Commit(str(dataset.pk), digest, (), "tests", "made", timezone.now())
    Pack.objects.bulk_create(
        [
            Pack(project=dataset.project, digest=pack.hex(), size_bytes=size, state="verified")
            for pack, size in zip(packs, sizes, strict=True)
        ],
        ignore_conflicts=True,
    )
    return Version.objects.create(
        dataset=dataset,
        number=dataset.versions.count() + 1,
        commit=write_commit(commit, store).hex(),
        root=digest.hex(),
        content_digest=root.content.hex(),
        file_count=root.files,
        link_count=0,
        size_bytes=root.size_bytes,
    )


def named_digests(count: int, name: str = "pack") -> list[bytes]:
    """Return digests of packs whose bytes exist nowhere."""
    return [blake3(f"{name} {number}".encode()).digest() for number in range(count)]


def store_pack(dataset: Dataset, data: bytes) -> bytes:
    """Put a pack into the object store; return its digest."""
    digest = blake3(data).digest()
    objects().put(project_prefix(dataset.project) + pack_key(digest.hex()), data)
    return digest
