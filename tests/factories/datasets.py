"""Datasets with real, small manifests in the object store."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, count
from typing import Any

from blake3 import blake3
from django.utils import timezone

from atom.accounts.models import Project
from atom.core.storage import objects, project_prefix, project_store
from atom.datasets.catalog.reads import packs_named_by
from atom.datasets.keys import pack_key
from atom.datasets.models import Branch, Dataset, Pack, Version
from atom.datasets.packs.engines.images import media_type_of
from atom_sdk.manifests import (
    Commit,
    Entry,
    LayerRef,
    build_root,
    entries_table,
    layer_table,
    write_commit,
    write_layer,
    write_root,
)
from tests.factories.accounts import make_project

_numbers = count(1)


def make_dataset(project: Project | None = None, name: str = "") -> Dataset:
    """Return a dataset without versions, with an empty branch `main`."""
    dataset = Dataset.objects.create(
        project=project or make_project(), name=name or f"dataset{next(_numbers)}"
    )
    Branch.objects.create(dataset=dataset, name="main")
    return dataset


def digest_of_file(path: str) -> bytes:
    """Return the digest of the bytes that the factory gives to the file at `path`."""
    return blake3(path.encode()).digest()


def make_version(
    dataset: Dataset,
    labels: Mapping[str, str | None],
    attributes: Mapping[str, str] | None = None,
    contents: Mapping[str, bytes] | None = None,
    **fields: Any,
) -> Version:
    """Return the next version on `main`: files by path, those with a label in a layer.

    The bytes of a file are its own path, and its pack exists in name only; files of `contents` have
    those bytes in a pack that is stored. `attributes` are JSON.
    """
    store = project_store(dataset.project)
    stored = _stored(dataset.project, contents or {})
    entries = []
    for offset, path in enumerate(sorted(labels)):
        said, media_type = (attributes or {}).get(path), media_type_of(path)
        place = (blake3(b"pack").digest(), offset * 1024)
        content = path.encode()
        if path in stored:
            place, content = stored[path], (contents or {})[path]
        digest = blake3(content).digest()
        entries.append(Entry(path, len(content), digest, media_type, said, *place))
    root = build_root([entries_table(entries)], store)
    layer = _label_layer(labels, store)
    root = root.with_layers(layer) if layer else root
    root_digest = write_root(root, store)
    commit = Commit(str(dataset.pk), root_digest, (), "tests", "made", timezone.now())
    branch = dataset.branches.get(name="main")
    number = dataset.versions.count() + 1
    version = Version.objects.create(
        dataset=dataset,
        number=number,
        commit=write_commit(commit, store).hex(),
        root=root_digest.hex(),
        content_digest=root.content.hex(),
        file_count=root.files,
        link_count=root.links,
        size_bytes=root.size_bytes,
        layers=[_layer_json(part) for part in root.layers],
        **fields,
    )
    branch.head, branch.seq = version, branch.seq + 1
    branch.save()
    return version


def stored_version(project: Project, files: Mapping[str, bytes]) -> Version:
    """Return version 1 of a new dataset `digits`, whose files are in one verified pack."""
    dataset = make_dataset(project, "digits")
    version = make_version(dataset, dict.fromkeys(files), contents=files)
    size_bytes = sum(len(content) for content in files.values())
    for digest in packs_named_by(version):
        Pack.objects.create(project=project, digest=digest, size_bytes=size_bytes, state="verified")
    return version


def _stored(project: Project, contents: Mapping[str, bytes]) -> dict[str, tuple[bytes, int]]:
    """Store one pack of these files, and return the pack and the place of each."""
    data = b"".join(contents.values())
    pack = blake3(data).digest()
    if data:
        objects().put(project_prefix(project) + pack_key(pack.hex()), data)
    ends = accumulate((len(content) for content in contents.values()), initial=0)
    return {path: (pack, start) for path, start in zip(contents, ends, strict=False)}


def _layer_json(layer: LayerRef) -> dict[str, Any]:
    return {
        "name": layer.name,
        "kind": layer.kind,
        "rows": layer.rows,
        "content": layer.content.hex(),
    }


def _label_layer(labels: Mapping[str, str | None], store: Any) -> LayerRef | None:
    rows = [
        {"path": path, "digest": digest_of_file(path), "label": label, "source": "folder"}
        for path, label in labels.items()
        if label is not None
    ]
    if not rows:
        return None
    table = layer_table("classification", rows)
    return write_layer("folder", "classification", table, store)
