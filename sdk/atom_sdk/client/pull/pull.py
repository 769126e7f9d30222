"""`pull` writes a version's files to a folder; `open` reads them where they are packed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pyarrow as pa
from blake3 import blake3

from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError, NetworkError, PackUnreadableError, RefSyntaxError
from atom_sdk.client.progress import Progress, Silent
from atom_sdk.client.pull.links import refuse_links_above, write_links
from atom_sdk.client.pull.missing_files import Missing, find_missing
from atom_sdk.client.pull.prune import clear_way, count_others, remove_others
from atom_sdk.client.skipped_files import write_skipped_paths
from atom_sdk.client.transport.external_objects import (
    SourceFiles,
    SourceRanges,
    bring,
    source_ranges,
)
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.client.transport.object_reads import object_chunks
from atom_sdk.client.transport.repair import pack_repair
from atom_sdk.disk import naming_full_disk, naming_the_way, whole_file
from atom_sdk.errors import EmptyDatasetError, SampleDigestMismatchError
from atom_sdk.manifests import Entry, Root, ViewSelector, build_view, parse_query, table_entries
from atom_sdk.manifests.entries import entries_table
from atom_sdk.manifests.query import below
from atom_sdk.manifests.views import Placed, at_their_source, selected
from atom_sdk.packs import FileSink
from atom_sdk.packs.cache_eviction import PackLease, PackRoom, cache_limit_bytes
from atom_sdk.packs.store import PackStore
from atom_sdk.packs.walk import SkippedPath

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets
    from atom_sdk.readers import LocalDataset, ViewIndex
    from atom_sdk.readers.repair import PackRepair
    from atom_sdk.readers.streaming import StreamingDataset

_SELECTOR_NAMES = {"labelled", "prefix", "split", "where"}
_THREADS = 4
# One system call reads at most 2 GiB, and a file need not fit into memory.
_COPY_BYTES = 8 << 20


@dataclass(frozen=True)
class PullOptions:
    """The files to write: the whole version, or those that the selector keeps.

    `selector` has the keys of `selector_of`. `delete` removes the files below the folder that are
    not selected; without it nothing is ever removed. `unsafe_links` creates links that lead out of
    the version, too.
    """

    selector: dict[str, Any] = field(default_factory=dict)
    delete: bool = False
    unsafe_links: bool = False


@dataclass(frozen=True)
class PullResult:
    """How many files were selected, written, and removed because of `delete`; links apart.

    Without `delete`, `others` counts the files below the folder that stay and are not selected.
    `left_out` are links that were not created; `left_out_file` names all of them.
    """

    selected: int
    written: int
    removed: int = 0
    others: int = 0
    links: int = 0
    links_written: int = 0
    left_out: tuple[SkippedPath, ...] = ()
    left_out_file: str | None = None


def pull(
    datasets: Datasets,
    http: Http,
    reference: str,
    folder: Path,
    options: PullOptions,
    progress: Progress,
) -> PullResult:
    """Write the selected files and links of the version below `folder`.

    Files at a source come through the server and into the cache first. Raises
    PackDigestMismatchError or SampleDigestMismatchError before a wrong byte is written, QueryError,
    EmptyDatasetError if nothing is selected, PathInTheWayError where a file and a folder meet,
    LinksImpossibleError, and ApiError if an object changed at its source.
    """
    chosen = selector_of(options.selector)
    manifest = RemoteManifest(http, datasets.version_base(reference))
    is_empty = not folder.is_dir() or not any(folder.iterdir())
    wanted = find_missing(manifest, chosen, folder, progress, unsafe_links=options.unsafe_links)
    entries, selected_paths = wanted.entries, wanted.paths
    if not selected_paths and not wanted.left_out:
        raise EmptyDatasetError("No file of this version fits the selection; nothing was changed.")
    store = PackStore(cache_path())
    lease = PackLease(store)
    base = manifest.base
    entries = _brought(SourceFiles(http, base), store, entries, lease, progress)
    packs = {entry.pack for entry in entries if entry.pack is not None}
    lease.add(packs)
    _fetch(http, base, store, sorted(packs), progress)
    written = [*(entry.path for entry in entries), *wanted.links]
    cleared = clear_way(folder, written, selected_paths) if options.delete else 0
    refuse_links_above(folder, written)
    if entries:
        progress.start("write", len(entries), "files")
    repair = pack_repair(http.config, base, store)
    for entry in entries:
        write_entry(store, entry, folder, repair)
        progress.advance("write", 1)
    turned = write_links(folder, wanted.links, unsafe=options.unsafe_links, is_empty=is_empty)
    del lease
    PackRoom(store, cache_limit_bytes()).shrink()
    result = _result(wanted, [*wanted.left_out, *turned], reference, folder)
    if not options.delete:
        return replace(result, others=count_others(folder, selected_paths))
    return replace(result, removed=cleared + remove_others(folder, selected_paths))


def _result(
    wanted: Missing, left_out: list[SkippedPath], reference: str, folder: Path
) -> PullResult:
    key = f"{reference}\0{folder.resolve()}".encode("utf-8", "surrogateescape")
    named = str(write_skipped_paths("pull", key, left_out)) if left_out else None
    turned = len(left_out) - len(wanted.left_out)
    return PullResult(
        selected=wanted.files_total,
        written=len(wanted.entries),
        links=wanted.links_total - turned,
        links_written=len(wanted.links) - turned,
        left_out=tuple(left_out),
        left_out_file=named,
    )


def open_dataset(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any], progress: Progress
) -> LocalDataset:
    """Bring the packs that the selection needs here and return a zero-copy reader."""
    from atom_sdk.readers import LocalDataset

    store = PackStore(cache_path())
    lease = PackLease(store)
    base, index = _view_index(
        datasets, http, reference, selector, _Bringing(store, lease, progress)
    )
    repair = pack_repair(http.config, base, store)
    dataset = LocalDataset(index, store.packs, repair=repair)
    _warn_of_unsplit(dataset.index, reference, selector)
    lease.add(dataset.index.packs)
    dataset.lease = lease
    _fetch(http, base, store, dataset.missing_packs(), progress)
    PackRoom(store, cache_limit_bytes()).shrink()
    return dataset


def stream_dataset(
    datasets: Datasets, http: Http, reference: str, selector: dict[str, Any]
) -> StreamingDataset:
    """Return a reader that fetches what is not here when it is read.

    Files at a source are packed here before this returns: only then their digests are known.
    """
    from atom_sdk.client.transport.pack_urls import PackUrls
    from atom_sdk.client.transport.ranges import PackRanges
    from atom_sdk.readers import ViewIndex
    from atom_sdk.readers.streaming import StreamingDataset

    store = PackStore(cache_path())
    lease = PackLease(store)
    base, path = _view_index(datasets, http, reference, selector, _Bringing(store, lease, Silent()))
    # Packs on this node are not asked for: for files at a source the server has no pack.
    packs = store.missing(ViewIndex(path).packs)
    ranges = PackRanges(PackUrls(http.config, base, packs))
    dataset = StreamingDataset(path, cache_path(), ranges)
    _warn_of_unsplit(dataset.index, reference, selector)
    dataset.lease = lease
    return dataset


def version_files(datasets: Datasets, http: Http, reference: str) -> tuple[ViewIndex, SourceRanges]:
    """Return the files of a version, and what reads parts of them where they are."""
    from atom_sdk.readers import ViewIndex

    base, path = _view_index(datasets, http, reference, {}, None)
    index = ViewIndex(path)
    return index, source_ranges(http.config, base, index)


@dataclass(frozen=True)
class _Bringing:
    """Where files at a source are packed before a view can say where they are."""

    store: PackStore
    lease: PackLease
    progress: Progress


def _view_index(
    datasets: Datasets,
    http: Http,
    reference: str,
    selector: dict[str, Any],
    bringing: _Bringing | None,
) -> tuple[str, Path]:
    """The address of the version that is meant now, and its view on this machine."""
    from atom_sdk.readers.view import is_readable

    chosen = selector_of(selector)
    manifest = RemoteManifest(http, datasets.version_base(reference))
    base = manifest.base
    index = _view_path(manifest.root, selector)
    if is_readable(index):
        # Nothing of it is at a source: such a view has another name.
        return base, index
    index.parent.mkdir(parents=True, exist_ok=True)
    tables = [_at_source(table) for table in selected(manifest.root, manifest, chosen)]
    placed = None
    if any(map(len, tables)):
        files = SourceFiles(http, base)
        placed, where = _placed(files, [table for table in tables if len(table)], bringing)
        index = _view_path(manifest.root, {**selector, "at": where})
    if not is_readable(index):
        build_view(manifest.root, manifest, index, chosen, placed=placed)
    return base, index


def _warn_of_unsplit(index: ViewIndex, reference: str, selector: dict[str, Any]) -> None:
    from atom_sdk.manifests.query import UNSPLIT_IS
    from atom_sdk.readers.unsplit import warn_of_unsplit

    if UNSPLIT_IS in (selector_of(selector).splits or ()):
        warn_of_unsplit(index, reference)


def _placed(
    files: SourceFiles, tables: list[pa.Table], bringing: _Bringing | None
) -> tuple[Placed, list[str]]:
    """Return a function that places files at a source, and the names that identify such a view."""
    if bringing is None:
        return at_their_source, ["source"]
    registered = bring(files, bringing.store, tables, bringing.lease, bringing.progress)
    packs: set[bytes] = set().union(*(registered.packs_of(table) for table in tables))
    return registered.place, [pack.hex() for pack in sorted(packs)]


def _at_source(entries: pa.Table) -> pa.Table:
    return entries.filter(entries["source"].is_valid())


def _brought(
    files: SourceFiles, store: PackStore, entries: list[Entry], lease: PackLease, progress: Progress
) -> list[Entry]:
    """The entries, those at a source with the place that they have here now."""
    stays = [entry for entry in entries if entry.source is not None]
    if not stays:
        return entries
    table = entries_table(stays)
    placed = bring(files, store, [table], lease, progress).place(table)
    return [entry for entry in entries if entry.source is None] + list(table_entries(placed))


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
    # A view says where the bytes lie, and the same content may lie in other packs.
    objects = [group.object for group in root.groups] or [
        digest for part in root.ranges for digest in part.layout
    ]
    name.update(b"".join(objects))
    return cache_path() / "views" / f"{name.hexdigest()[:40]}.arrow"


def _fetch(
    http: Http, version_base: str, store: PackStore, packs: list[bytes], progress: Progress
) -> None:
    missing = store.missing(packs)
    if not missing:
        return
    urls = _pack_urls(http, version_base, missing)
    progress.start("download", 0, "bytes")

    def chunks(pack: bytes) -> Iterator[bytes]:
        return object_chunks(http, urls[pack], lambda size: progress.advance("download", size))

    def fetch(pack: bytes) -> None:
        with _naming_pack(pack):
            try:
                store.fill(pack, lambda: chunks(pack))
            except ApiError as error:
                if error.status != httpx.codes.FORBIDDEN:
                    raise
                # Good for an hour, and the packs before may have taken longer.
                urls.update(_pack_urls(http, version_base, [pack]))
                store.fill(pack, lambda: chunks(pack))

    with ThreadPoolExecutor(_THREADS, "atom-pull") as pool:
        for _ in pool.map(fetch, missing):
            pass


@contextmanager
def _naming_pack(pack: bytes) -> Iterator[None]:
    try:
        yield
    except (ApiError, NetworkError) as error:
        if error.code not in {"object_store", NetworkError.code}:
            raise
        raise PackUnreadableError(pack.hex(), str(error).rstrip(".")) from error


def _pack_urls(http: Http, version_base: str, packs: Iterable[bytes]) -> dict[bytes, str]:
    body = {"packs": [pack.hex() for pack in packs]}
    found = http.post(f"{version_base}pack-urls/", body)["urls"]
    return {bytes.fromhex(pack): url for pack, url in found.items()}


def write_entry(
    store: PackStore, entry: Entry, folder: Path, repair: PackRepair | None = None
) -> None:
    """Write one file from a pack of this node, whole or not at all.

    A corrupt pack is fetched again if `repair` has its origin. Raises PackMissingError,
    SampleDigestMismatchError, PathInTheWayError, DiskFullError.
    """
    target = folder / entry.path
    if entry.pack is None or entry.offset is None or entry.digest is None:
        raise SampleDigestMismatchError(entry.path, "")
    with naming_the_way(target), naming_full_disk(folder):
        target.parent.mkdir(parents=True, exist_ok=True)
    with naming_the_way(target), whole_file(target, f".{entry.digest.hex()}.part") as temporary:
        if _copy(store.open_path(entry.pack), entry.offset, entry.size, temporary) == entry.digest:
            return
        if repair is None:
            file = str(store.path(entry.pack))
            raise SampleDigestMismatchError(entry.path, entry.pack.hex(), file)
        repair.repair(entry.pack, entry.path)
        if _copy(store.open_path(entry.pack), entry.offset, entry.size, temporary) != entry.digest:
            raise repair.still_damaged(entry.pack, entry.path)


def _copy(pack: Path, offset: int, size: int, target: Path) -> bytes:
    """Copy part of a pack piece by piece, fewer bytes at its end; returns their BLAKE3."""
    hasher = blake3()
    with pack.open("rb", buffering=0) as source, target.open("wb", buffering=0) as file:
        sink = FileSink(file.fileno())
        done = 0
        while done < size:
            data = os.pread(source.fileno(), min(_COPY_BYTES, size - done), offset + done)
            if not data:
                break
            hasher.update(data)
            sink.write(memoryview(data))
            done += len(data)
    return hasher.digest()
