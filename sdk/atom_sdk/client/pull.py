"""`pull` writes a version's files to a folder; `open` reads them where they are packed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pyarrow as pa
from blake3 import blake3

from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import PackUnreadableError, RefSyntaxError
from atom_sdk.client.http import Http
from atom_sdk.client.manifest import RemoteManifest
from atom_sdk.client.progress import Progress
from atom_sdk.client.prune import remove_others
from atom_sdk.disk import naming_full_disk, whole_file
from atom_sdk.errors import EmptyDatasetError, SampleDigestMismatchError, StaysAtSourceError
from atom_sdk.manifests import Entry, Root, ViewSelector, build_view, parse_query, table_entries
from atom_sdk.manifests.query import below
from atom_sdk.manifests.views import selected
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.room import Hold, PackRoom, cache_limit_bytes
from atom_sdk.packs.store import PackStore
from atom_sdk.packs.walk import hash_file

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets
    from atom_sdk.client.ranges import PackRanges
    from atom_sdk.readers import LocalDataset, ViewIndex
    from atom_sdk.readers.streaming import StreamingDataset

_SELECTOR_NAMES = {"labelled", "prefix", "split", "where"}
_THREADS = 4
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class PullOptions:
    """What to write: the whole version, or what the selector keeps.

    `selector` has the keys of `selector_of`. `delete` removes the files below the folder that are
    not selected; without it nothing is ever removed.
    """

    selector: dict[str, Any] = field(default_factory=dict)
    delete: bool = False


@dataclass(frozen=True)
class PullResult:
    """How many files were selected, written, and removed because of `delete`."""

    selected: int
    written: int
    removed: int = 0


def pull(
    datasets: Datasets,
    http: Http,
    reference: str,
    folder: Path,
    options: PullOptions,
    progress: Progress,
) -> PullResult:
    """Write the selected files of the version below `folder`.

    Raises PackDigestMismatchError or SampleDigestMismatchError before a wrong byte is written,
    QueryError, and EmptyDatasetError if nothing is selected.
    """
    chosen = selector_of(options.selector)
    manifest = RemoteManifest(http, datasets.version_base(reference))
    selected_paths: set[str] = set()
    entries = _wanted(manifest, chosen, folder, selected_paths, progress)
    if not selected_paths:
        raise EmptyDatasetError("No file of this version fits the selection; nothing was changed.")
    at_source = [entry.path for entry in entries if entry.source is not None]
    if at_source:
        raise StaysAtSourceError(at_source[0], len(at_source))
    store = PackStore(cache_path())
    packs = {entry.pack for entry in entries if entry.pack is not None}
    hold = Hold(store)
    hold.add(packs)
    _fetch(http, datasets.version_base(reference), store, sorted(packs), progress)
    progress.start("write", len(entries), "files")
    for entry in entries:
        write_entry(store, entry, folder)
        progress.advance("write", 1)
    del hold
    PackRoom(store, cache_limit_bytes()).shrink()
    removed = remove_others(folder, selected_paths) if options.delete else 0
    return PullResult(len(selected_paths), len(entries), removed)


def open_dataset(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any], progress: Progress
) -> LocalDataset:
    """Bring the packs that the selection needs here and return a zero-copy reader."""
    from atom_sdk.readers import LocalDataset

    store = PackStore(cache_path())
    base, index = _view_index(datasets, http, reference, selector)
    dataset = LocalDataset(index, store.packs)
    hold = Hold(store)
    hold.add(dataset.index.packs)
    dataset.hold = hold
    _fetch(http, base, store, dataset.missing_packs(), progress)
    PackRoom(store, cache_limit_bytes()).shrink()
    return dataset


def stream_dataset(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any]
) -> StreamingDataset:
    """Return a reader that fetches what is not here when it is read."""
    from atom_sdk.readers.streaming import StreamingDataset

    index, ranges = version_files(datasets, http, reference, selector)
    return StreamingDataset(index.path, cache_path(), ranges)


def version_files(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any] | None = None
) -> tuple[ViewIndex, PackRanges]:
    """Return the files of a version, and what reads parts of their packs."""
    from atom_sdk.client.pack_urls import PackUrls
    from atom_sdk.client.ranges import PackRanges
    from atom_sdk.readers import ViewIndex

    base, path = _view_index(datasets, http, reference, selector or {})
    index = ViewIndex(path)
    return index, PackRanges(PackUrls(http.config, base, index.packs))


def _view_index(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any]
) -> tuple[str, Path]:
    """The address of the version that is meant now, and its view on this machine."""
    from atom_sdk.readers.view import is_readable

    chosen = selector_of(selector)
    manifest = RemoteManifest(http, datasets.version_base(reference))
    # A branch may move while the packs are read; the number of a version does not.
    base = f"{datasets.base(reference)}versions/{manifest.version['ref']}/"
    index = _view_path(manifest.root, selector)
    if not is_readable(index):
        index.parent.mkdir(parents=True, exist_ok=True)
        build_view(manifest.root, manifest, index, chosen, placed=_stored_only)
    return base, index


def _stored_only(entries: pa.Table) -> pa.Table:
    """Refuse to leave out, without a word, what only nodes can read."""
    at_source = entries.filter(entries["source"].is_valid())
    if len(at_source):
        raise StaysAtSourceError(at_source["path"][0].as_py(), len(at_source))
    return entries


def selector_of(selector: dict[str, Any]) -> ViewSelector:
    """Return the selector for split="train" (or several names), labelled=True, where=, prefix=.

    Raises RefSyntaxError for a name that no selector has, QueryError.
    """
    unknown = set(selector) - _SELECTOR_NAMES
    if unknown:
        known = ", ".join(f"{name}=" for name in sorted(_SELECTOR_NAMES))
        raise RefSyntaxError(f"Select by {known}, not by {', '.join(sorted(unknown))}.")
    where = parse_query(selector["where"]) if selector.get("where") else None
    if prefix := selector.get("prefix"):
        where = below(prefix, where)
    split = selector.get("split")
    names = [split] if isinstance(split, str) else split
    return ViewSelector(
        splits=frozenset(names) if names else None,
        labelled_only=bool(selector.get("labelled")),
        where=where,
    )


def _view_path(root: Root, selector: dict[str, Any]) -> Path:
    name = hashlib.sha256(json.dumps(selector, sort_keys=True, default=str).encode())
    layers = "".join(layer.content.hex() for layer in root.layers)
    name.update(f"{root.content.hex()}{layers}".encode())
    return cache_path() / "views" / f"{name.hexdigest()[:40]}.arrow"


def _wanted(
    manifest: RemoteManifest,
    chosen: ViewSelector,
    folder: Path,
    selected_paths: set[str],
    progress: Progress,
) -> list[Entry]:
    """Return the selected entries whose files are missing or different; adds all their paths."""
    progress.start("compare", manifest.root.count, "files")
    wanted = []
    for table in selected(manifest.root, manifest, chosen):
        for entry in table_entries(table):
            encode_path(entry.path)
            selected_paths.add(entry.path)
            if not _same(folder / entry.path, entry):
                wanted.append(entry)
            progress.advance("compare", 1)
    return wanted


def _same(path: Path, entry: Entry) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size != entry.size:
            return False
    except (FileNotFoundError, NotADirectoryError):
        return False
    return hash_file(path) == entry.digest


def _fetch(
    http: Http, version_base: str, store: PackStore, packs: list[bytes], progress: Progress
) -> None:
    missing = store.missing(packs)
    if not missing:
        return
    body = {"packs": [pack.hex() for pack in missing]}
    urls: dict[str, str] = http.post(f"{version_base}pack-urls/", body)["urls"]
    progress.start("download", 0, "bytes")

    def fetch(pack: bytes) -> None:
        store.fill(pack, lambda: _chunks(http, pack.hex(), urls[pack.hex()], progress))

    with ThreadPoolExecutor(_THREADS, "atom-pull") as pool:
        for _ in pool.map(fetch, missing):
            pass


def _chunks(http: Http, pack: str, url: str, progress: Progress) -> Iterator[bytes]:
    try:
        with http.objects.stream("GET", url) as response:
            if not response.is_success:
                raise PackUnreadableError(pack, f"The object store answered {response.status_code}")
            for chunk in response.iter_bytes(_CHUNK_BYTES):
                progress.advance("download", len(chunk))
                yield chunk
    except httpx.TransportError as exc:
        raise PackUnreadableError(pack, f"The connection to the object store broke: {exc}") from exc


def write_entry(store: PackStore, entry: Entry, folder: Path) -> None:
    """Write one file from a pack of this node, whole or not at all.

    Raises PackMissingError, SampleDigestMismatchError, DiskFullError.
    """
    target = folder / entry.path
    if entry.pack is None or entry.offset is None or entry.digest is None:
        raise SampleDigestMismatchError(entry.path, "")
    data = _read(store, entry.pack, entry.offset, entry.size)
    if blake3(data).digest() != entry.digest:
        raise SampleDigestMismatchError(entry.path, entry.pack.hex())
    with naming_full_disk(folder):
        target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target, f".{entry.digest.hex()}.part") as temporary:
        temporary.write_bytes(data)


def _read(store: PackStore, pack: bytes, offset: int, size: int) -> bytes:
    descriptor = os.open(store.open_path(pack), os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)
