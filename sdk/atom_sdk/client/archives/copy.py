"""Copying a dataset with its history from one Atom to another, or into another project.

Packs go through this machine in parts and are kept nowhere on it; only the manifests, some 40 bytes
per file, lie in a scratch folder meanwhile. A copy that was cut off goes on where it was: packs and
parts that the target has are not read again, and the target verifies every pack by its digest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.archive.folder import ArchiveFolder, digest_in, history_key
from atom_sdk.archive.follow import Followed
from atom_sdk.archive.history import History, encode_history
from atom_sdk.client.archives.external_objects import (
    WITHOUT_SOURCES,
    Contained,
    SourceChoice,
    contain,
)
from atom_sdk.client.archives.load import Load, LoadResult, Parcel
from atom_sdk.client.archives.save import Save, naming_damaged
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError, NetworkError, UploadRejectedError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http, send_object
from atom_sdk.client.transport.upload import UploadTarget, upload_file, upload_parts, wait_verified
from atom_sdk.manifests.objects import digest_of, pack_key

if TYPE_CHECKING:
    from atom_sdk.client import Client

_URL_BATCH = 64
_PACKS_AT_ONCE = 2


class Copy:
    """One copy; `run` may be called once, and again by another one after it was cut off."""

    def __init__(self, source: Client, target: Client, progress: Progress) -> None:
        self._source = source
        self._target = target
        self._progress = progress

    def run(
        self,
        dataset: str,
        name: str | None,
        refs: Sequence[str] = (),
        sources: SourceChoice = WITHOUT_SOURCES,
    ) -> LoadResult:
        """Copy a dataset of the source's project into the target's, with the files of `refs`.

        Raises ArchiveHistoryDiffersError before anything is sent, ArchiveRegisteredError,
        ArchiveSourceChangedError, ArchiveVersionGoneError, ArchiveDamagedSourceError,
        UploadRejectedError, CommitFailedError, ApiError, NetworkError.
        """
        base = self._source.datasets.base(dataset)
        save = Save(self._source.datasets, self._source.http, self._progress)
        load = Load(self._target.datasets, self._target.http, self._progress)
        history = save.history(base, refs)
        with tempfile.TemporaryDirectory(dir=_scratch(), prefix="copy-") as folder:
            archive, name = ArchiveFolder(folder), name or history.name
            if not sources.with_sources:
                found = save.bring_manifests(base, archive, history)
                return self._deliver(load, name, base, _Whole(archive, history, found))
            prior = self._prior(archive, name)
            whole = contain(save, base, archive, history, prior, sources)
            return replace(
                self._deliver(
                    load, name, base, _Whole(archive, whole.history, whole.objects, whole)
                ),
                brought_in=whole.brought_in,
            )

    def _prior(self, archive: ArchiveFolder, name: str) -> History | None:
        """Return what the target has under a name, with its manifests in the archive."""
        there = Save(self._target.datasets, self._target.http, self._progress)
        base = self._target.datasets.base(name)
        try:
            history = there.history(base, ())
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        there.fetch_manifests(base, archive, history)
        return history

    def _deliver(self, load: Load, name: str, base: str, whole: _Whole) -> LoadResult:
        data = encode_history(whole.history)
        digest = digest_of(data).hex()
        whole.archive.put(history_key(digest), data)
        parcel = Parcel(digest, whole.history, whole.archive, frozenset(whole.objects.keys))
        brought = whole.contained.brought if whole.contained else frozenset()
        local = whole.contained.local if whole.contained else {}
        keys = sorted(map(pack_key, whole.objects.packs - brought))

        def send(where: str) -> None:
            self._send_packs(base, where, keys)
            target = UploadTarget(self._target.http, where, self._progress)
            # Those that are not here came with an earlier copy: the target has them.
            for pack, path in local.items():
                wait_verified(target, upload_file(target, path, "pack", pack.hex()))

        return load.deliver(parcel, name, send)

    def _send_packs(self, base: str, target_base: str, keys: Sequence[str]) -> None:
        self._progress.start("upload", 0, "bytes")
        target = UploadTarget(self._target.http, target_base, self._progress)
        http = self._source.http
        with naming_damaged(), ThreadPoolExecutor(_PACKS_AT_ONCE, "atom-copy") as pool:
            for start in range(0, len(keys), _URL_BATCH):
                # Asked for just before they are used, since they are good for an hour.
                rows = _addresses(http, base, keys[start : start + _URL_BATCH])
                for _ in pool.map(lambda row: _send(target, _StoredPack(http, base, row)), rows):
                    pass


@dataclass(frozen=True)
class _Whole:
    """A complete delivery: a history, and the folder that has all it needs but packs."""

    archive: ArchiveFolder
    history: History
    objects: Followed
    contained: Contained | None = None


class _StoredPack:
    """A pack of the source, read in parts. For several threads."""

    def __init__(self, http: Http, base: str, row: dict[str, Any]) -> None:
        self._http, self._base = http, base
        self._url: str = row["url"]
        self.key: str = row["key"]
        self.size_bytes: int = row["size_bytes"]

    def read(self, start: int, length: int) -> bytes:
        """Return bytes from `start`, fewer at the end. Raises ApiError, NetworkError."""
        end = min(start + length, self.size_bytes)
        if end <= start:
            return b""
        try:
            data = self._get(start, end)
        except ApiError as error:
            if error.status != 403:
                raise
            # The address was good for an hour, and the packs before took longer.
            self._url = _addresses(self._http, self._base, [self.key])[0]["url"]
            data = self._get(start, end)
        if len(data) != end - start:
            raise NetworkError(f"The object store cut off {self.key}.")
        return data

    def has_same(self, start: int, part: dict[str, Any]) -> bool:
        """Believe it: to look would be to read it again, and the whole pack is verified."""
        return True

    def _get(self, start: int, end: int) -> bytes:
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        return send_object(self._http, "GET", self._url, headers=headers).content


def _addresses(http: Http, base: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.post(f"{base}archive/urls/", {"keys": list(keys)})["objects"]
    return found


def _send(target: UploadTarget, pack: _StoredPack) -> None:
    """Send a pack and wait until it is verified; what an earlier try left may be wrong, once."""
    digest = digest_in(pack.key).hex()
    try:
        wait_verified(target, upload_parts(target, pack, "pack", digest))
    except UploadRejectedError:
        wait_verified(target, upload_parts(target, pack, "pack", digest))


def _scratch() -> Path:
    folder = cache_path() / "load"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
