"""The manifest of a version in its second store, and the pointer that is written last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from atom.core.storage import project_store
from atom.datasets.catalog.reads import manifest_keys
from atom.datasets.catalog.stores import version_store
from atom.datasets.keys import pack_key, replica_key
from atom.datasets.models import Version
from atom.datasets.replicas.errors import StoreCorrupts
from atom.datasets.replicas.pipelines.second_store import SecondStore
from atom_sdk.manifests.objects import commit_key, root_key
from atom_sdk.sentences import Sentence


def replicated_keys(version: Version, packs: Iterable[str]) -> Iterator[str]:
    """Yield the keys of all that a replica of a version holds, relative to its project."""
    yield from map(pack_key, packs)
    yield from _keys_of_manifest(version, version.readable_root)
    yield replica_key(version.pk)


def write_manifest(
    version: Version, root: str, bucket: SecondStore, packs: Mapping[str, int]
) -> None:
    """Write the manifest's objects, each read back, and then the pointer.

    Raises StoreCorrupts, StoreAway and its kin, ObjectNotFoundError.
    """
    origin = project_store(version.dataset.project)
    for key in _keys_of_manifest(version, root):
        data = origin.get(key)
        if bucket.size_of(key) != len(data) or bucket.get(key) != data:
            bucket.put(key, data)
            _require_same(bucket, key, data)
    pointer = {
        "dataset": version.dataset.name,
        "commit": version.commit,
        "root": root,
        "content": version.content_digest,
        "packs": len(packs),
        "bytes": sum(packs.values()),
    }
    data = json.dumps(pointer, sort_keys=True).encode()
    bucket.put(replica_key(version.pk), data)
    _require_same(bucket, replica_key(version.pk), data)


def _keys_of_manifest(version: Version, root: str) -> Iterator[str]:
    store = version_store(version.dataset.project)
    yield from manifest_keys(store.root(root))
    yield root_key(bytes.fromhex(root))
    yield commit_key(bytes.fromhex(version.commit))


def _require_same(bucket: SecondStore, key: str, data: bytes) -> None:
    if bucket.get(key) != data:
        raise StoreCorrupts(
            Sentence(
                "datasets.store_corrupts_object",
                "The store gives other bytes of {key} than were written.",
                key=key,
            )
        )
