"""Loading a dataset from an archive: packs that the project lacks, manifests, then one request."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.archive.check import manifest_keys
from atom_sdk.archive.errors import ArchiveCorruptError
from atom_sdk.archive.folder import ArchiveFolder, history_key
from atom_sdk.archive.history import History, lacks, parse_history
from atom_sdk.client.commits import wait_for_commit
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError, UploadRejectedError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.upload import UploadTarget, upload_file, wait_verified
from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.writer import FileSink, write_pack

if TYPE_CHECKING:
    from atom_sdk.client.archives.external_objects import BroughtIn
    from atom_sdk.client.datasets import Datasets

_UPLOADS_AT_ONCE = 2


@dataclass(frozen=True)
class LoadResult:
    """The result of a load; `unchanged` means that the dataset had all of it."""

    dataset: str
    history: str
    versions: int
    branches: int
    versions_with_files: int
    head: dict[str, Any] | None
    unchanged: bool
    brought_in: BroughtIn | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Parcel:
    """A history, its digest (hex), and the folder that has it and its manifest objects."""

    digest: str
    history: History
    archive: ArchiveFolder
    manifests: frozenset[str]


class Load:
    """One load; `run` may be called once, and again by another one after it was cut off."""

    def __init__(self, datasets: Datasets, http: Http, progress: Progress) -> None:
        self._datasets = datasets
        self._http = http
        self._progress = progress

    def run(self, folder: Path, saved: str | None, name: str | None) -> LoadResult:
        """Load the dataset that the folder has as `saved` (or its only one) under a name.

        Raises ArchiveMissingError, ArchiveCorruptError, ArchiveHistoryDiffersError,
        UploadRejectedError, CommitFailedError, ApiError.
        """
        archive = ArchiveFolder(folder)
        saved = saved or _only(archive)
        digest, index = archive.pointed(saved)
        history = archive.history(digest)
        sizes = archive.index(index)
        _require_sizes(archive, sizes)
        parcel = Parcel(digest, history, archive, frozenset(manifest_keys(sizes)))
        return self.deliver(
            parcel, name or history.name, lambda base: self._send_packs(base, archive, sizes)
        )

    def deliver(self, parcel: Parcel, name: str, send_packs: Callable[[str], None]) -> LoadResult:
        """Make the dataset `name` have a history; `send_packs` gets the place to send to."""
        base, digest, history = self._datasets.base(name), parcel.digest, parcel.history
        if self._has_all(base, history):
            return _result(name, digest, history, self._head(base), unchanged=True)
        self._datasets.get_or_create(name, history.description)
        self._http.put(f"{base}archive/loading/", {"history": digest})
        send_packs(base)
        keys = [*parcel.manifests, history_key(digest)]
        bundle = self._send_manifests(base, parcel.archive, keys)
        body = {"history": digest, "bundle": bundle}
        request = self._http.post(f"{base}archive/loads/", body)
        self._progress.start("commit", 0, "files")
        done = wait_for_commit(self._http, base, request)
        return _result(name, digest, history, done["version"], unchanged=done["unchanged"])

    def _has_all(self, base: str, history: History) -> bool:
        try:
            answer = self._http.get(f"{base}archive/")
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return not lacks(history, parse_history(answer))

    def _head(self, base: str) -> dict[str, Any] | None:
        latest: dict[str, Any] | None = self._http.get(base)["latest"]
        return latest

    def _send_packs(self, base: str, archive: ArchiveFolder, sizes: dict[str, int]) -> None:
        packs = [key for key in sizes if key.startswith("packs/")]
        self._progress.start("upload", sum(sizes[key] for key in packs), "bytes")
        target = UploadTarget(self._http, base, self._progress)

        def send(key: str) -> str:
            return upload_file(target, archive.path(key), "pack", _hex(key))

        with ThreadPoolExecutor(_UPLOADS_AT_ONCE, "atom-load") as pool:
            for key, upload_id in zip(packs, pool.map(send, packs), strict=True):
                try:
                    wait_verified(target, upload_id)
                except UploadRejectedError as error:
                    if archive.is_right(key):
                        raise
                    raise ArchiveCorruptError(f"{key} is not what its name says.") from error

    def _send_manifests(self, base: str, archive: ArchiveFolder, keys: list[str]) -> str:
        """Send manifest objects as one pack, the same in every try; returns its digest."""
        files = [SourceFile(key, archive.size(key) or 0) for key in sorted(keys)]
        scratch = cache_path() / "load"
        scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=scratch, suffix=".tar") as file:
            summary = write_pack(files, archive.root, FileSink(file.fileno()))
            self._progress.start("manifests", summary.size_bytes, "bytes")
            target = UploadTarget(self._http, base, self._progress, step="manifests")
            wait_verified(
                target, upload_file(target, Path(file.name), "pack", summary.digest.hex())
            )
        return summary.digest.hex()


def _only(archive: ArchiveFolder) -> str:
    names = archive.names()
    if len(names) > 1:
        raise ArchiveCorruptError(f"{archive.root} holds {', '.join(names)}: say which to load.")
    return names[0]


def _require_sizes(archive: ArchiveFolder, sizes: dict[str, int]) -> None:
    """Raise ArchiveCorruptError before anything is sent of an archive that is not whole."""
    wrong = [key for key, size_bytes in sizes.items() if archive.size(key) != size_bytes]
    if wrong:
        raise ArchiveCorruptError(f"{wrong[0]} and {len(wrong) - 1} more are missing or cut off.")


def _hex(key: str) -> str:
    return key.rpartition("/")[2].partition(".")[0]


def _result(
    target: str, digest: str, history: History, head: dict[str, Any] | None, *, unchanged: bool
) -> LoadResult:
    versions, branches = len(history.commits), len(history.branches)
    return LoadResult(target, digest, versions, branches, len(history.kept), head, unchanged)
