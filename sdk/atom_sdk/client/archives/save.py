"""Saving a dataset with its history into a folder; what is there and right is skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.archive.errors import (
    ArchiveCorruptError,
    ArchiveDamagedSourceError,
    ArchiveNameTakenError,
    ArchiveVersionGoneError,
)
from atom_sdk.archive.folder import ArchiveFolder, history_key
from atom_sdk.archive.follow import Followed
from atom_sdk.archive.history import History, encode_history, parse_history
from atom_sdk.client.archives.external_objects import (
    WITHOUT_SOURCES,
    BroughtIn,
    Contained,
    SourceChoice,
    contain,
)
from atom_sdk.client.errors import ApiError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.object_reads import object_chunks
from atom_sdk.manifests.commits import read_commit
from atom_sdk.manifests.objects import (
    commit_key,
    delta_key,
    digest_of,
    group_key,
    layer_key,
    pack_key,
    range_key,
    root_key,
)
from atom_sdk.manifests.roots.roots import read_root

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets

_THREADS = 8
_URL_BATCH = 64
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class SaveOptions:
    """The choice for a save: the files of some versions or of all, and the name in the folder."""

    refs: tuple[str, ...] = ()
    name: str | None = None
    sources: SourceChoice = WITHOUT_SOURCES


@dataclass(frozen=True)
class SaveResult:
    """The content of a dataset's archive now, and the part of it that had to be written."""

    dataset: str
    folder: str
    history: str
    versions: int
    branches: int
    versions_with_files: int
    objects: int
    objects_written: int
    bytes_written: int
    brought_in: BroughtIn | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return asdict(self)


class Save:
    """One save; `run` may be called once."""

    def __init__(self, datasets: Datasets, http: Http, progress: Progress) -> None:
        self._datasets = datasets
        self.http = http
        self.progress = progress
        self._written = 0
        self._bytes_written = 0

    def run(self, dataset: str, folder: Path, options: SaveOptions) -> SaveResult:
        """Save a dataset into a folder, which other datasets may share.

        Raises ArchiveNameTakenError, ArchiveVersionGoneError, ArchiveRegisteredError,
        ArchiveSourceChangedError, ArchiveDamagedSourceError, ArchiveWriteError,
        ArchiveCorruptError, ApiError, NetworkError.
        """
        base = self._datasets.base(dataset)
        archive = ArchiveFolder(folder)
        history = self.history(base, options.refs)
        name = options.name or history.name
        if options.sources.with_sources:
            prior = _prior(archive, name)
            all_of_it = contain(self, base, archive, history, prior, options.sources)
            _check_name(archive, name, history, all_of_it.history)
            history, found, brought_in = all_of_it.history, all_of_it.objects, all_of_it.brought_in
            self._written, self._bytes_written = all_of_it.written
            self._add_local(archive, all_of_it)
        else:
            _check_name(archive, name, history)
            found, brought_in = self.bring_manifests(base, archive, history), None
        self._bring_packs(base, archive, sorted(found.packs))
        data = encode_history(history)
        digest = digest_of(data).hex()
        archive.put(history_key(digest), data)
        keys = {*found.keys, *map(pack_key, found.packs)}
        # Last: who finds the name finds all of it.
        archive.point(name, digest, archive.write_index(keys))
        return SaveResult(
            name, str(folder), digest, len(history.commits), len(history.branches),
            len(history.kept), len(keys), self._written, self._bytes_written, brought_in,
        )  # fmt: skip

    def history(self, base: str, refs: Sequence[str]) -> History:
        """Return the history of the dataset at `base`, with the files of `refs` or of all.

        Raises ArchiveVersionGoneError, ArchiveCorruptError, ApiError.
        """
        try:
            history = parse_history(self.http.get(f"{base}archive/"))
        except (KeyError, TypeError, ValueError) as error:
            raise ArchiveCorruptError(f"The server's history cannot be read: {error}.") from error
        if not refs:
            return history
        chosen = [self.http.get(f"{base}versions/{ref}/")["commit"] for ref in refs]
        gone = set(chosen) - history.kept
        if gone:
            raise ArchiveVersionGoneError(f"The files of {min(gone)[:12]} are no longer kept.")
        return history.with_files_of(chosen)

    def bring_manifests(self, base: str, archive: ArchiveFolder, history: History) -> Followed:
        """Fetch what a history needs but packs, and return it checked.

        Raises ArchiveCorruptError, ArchiveRegisteredError, ApiError.
        """
        self.fetch_manifests(base, archive, history)
        return Followed(archive).follow(history)

    def fetch_manifests(self, base: str, archive: ArchiveFolder, history: History) -> None:
        """Fetch level by level: commits, roots, groups, then all that ranges name.

        Raises ArchiveCorruptError, ApiError.
        """
        self.progress.start("manifests", 0, "files")
        commits = [bytes.fromhex(commit) for commit in history.commits]
        self._bring(base, archive, map(commit_key, commits), "manifests")
        roots = {commit: read_commit(commit, archive).root for commit in commits}
        layouts = [bytes.fromhex(root) for root in history.layouts.values()]
        self._bring(base, archive, map(root_key, [*roots.values(), *layouts]), "manifests")
        kept = dict.fromkeys([*(roots[bytes.fromhex(one)] for one in history.kept), *layouts])
        keys: dict[str, None] = {}
        for digest in kept:
            root = read_root(digest, archive)
            groups = [group_key(group.object) for group in root.groups]
            self._bring(base, archive, groups, "manifests")
            for part in root.ranges:
                keys |= dict.fromkeys([range_key(part.object), *map(delta_key, part.deltas)])
            keys |= dict.fromkeys(layer_key(n) for layer in root.layers for n in layer.layout)
        self._bring(base, archive, keys, "manifests")

    def _add_local(self, archive: ArchiveFolder, contained: Contained) -> None:
        """Write the packs that no server has. Raises ArchiveCorruptError, ArchiveWriteError."""
        for key, path in ((pack_key(one), contained.local.get(one)) for one in contained.brought):
            if archive.is_right(key):
                continue
            if path is None:
                raise ArchiveCorruptError(
                    f"{key} was brought in from a source and is damaged or gone. To bring its "
                    "files in anew, save under another name with --as."
                )
            self._bytes_written += archive.write(key, file_chunks(path))
            self._written += 1

    def _bring_packs(self, base: str, archive: ArchiveFolder, packs: Sequence[bytes]) -> None:
        self.progress.start("packs", 0, "bytes")
        with naming_damaged():
            self._bring(base, archive, map(pack_key, packs), "packs")

    def _bring(self, base: str, archive: ArchiveFolder, keys: Iterable[str], step: str) -> None:
        """Fetch what is not there yet, or not right."""
        with ThreadPoolExecutor(_THREADS, "atom-save") as pool:
            ordered = sorted(set(keys))
            right = pool.map(archive.is_right, ordered)
            missing = [key for key, ok in zip(ordered, right, strict=True) if not ok]
            for start in range(0, len(missing), _URL_BATCH):
                # Asked for just before they are used, since they are good for an hour.
                body = {"keys": missing[start : start + _URL_BATCH]}
                answer = self.http.post(f"{base}archive/urls/", body)["objects"]
                sizes = pool.map(lambda row: self._fetch(archive, row, step), answer)
                for size_bytes in sizes:
                    self._written += 1
                    self._bytes_written += size_bytes

    def _fetch(self, archive: ArchiveFolder, row: dict[str, Any], step: str) -> int:
        advance = self.progress.advance if step == "packs" else _count_nothing
        chunks = object_chunks(self.http, row["url"], lambda size_bytes: advance(step, size_bytes))
        size_bytes = archive.write(row["key"], chunks)
        if step != "packs":
            self.progress.advance(step, 1)
        return size_bytes


@contextmanager
def naming_damaged() -> Iterator[None]:
    """Raise ArchiveDamagedSourceError where the server reports a corrupt pack."""
    try:
        yield
    except ApiError as error:
        if error.code == "pack_quarantined":
            raise ArchiveDamagedSourceError(str(error)) from error
        raise


def file_chunks(path: Path) -> Iterator[bytes]:
    """Yield a file of this machine piece by piece."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _count_nothing(step: str, amount: int) -> None:
    """Files are counted whole, not by their bytes."""


def _prior(archive: ArchiveFolder, name: str) -> History | None:
    """Return what the folder has under a name already."""
    if name not in (archive.names() if (archive.root / "datasets").is_dir() else []):
        return None
    return archive.history(archive.pointed(name)[0])


def _check_name(archive: ArchiveFolder, name: str, *histories: History) -> None:
    """Raise ArchiveNameTakenError if the folder has another dataset of that name."""
    there = _prior(archive, name)
    mine = {commit for history in histories for commit in history.commits}
    if there is not None and there.commits and not mine & set(there.commits):
        raise ArchiveNameTakenError(
            f"{archive.root} holds another dataset {name}, from the project {there.project}."
        )
