"""Checks an archive offline: every byte of every object, and that all of it fits together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.amounts import counted
from atom_sdk.archive.errors import ArchiveCorruptError, ArchiveError
from atom_sdk.archive.folder import ArchiveFolder, digest_in, history_key, index_key
from atom_sdk.archive.follow import Followed
from atom_sdk.errors import AtomError
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.objects import pack_key
from atom_sdk.packs.indexer import verify_pack

if TYPE_CHECKING:
    from atom_sdk.client.progress import Progress

_THREADS = 4
_PLACE = ("offset", "size", "digest")
_PLACE_SCHEMA = pa.schema([("offset", pa.int64()), ("size", pa.int64()), ("digest", DIGEST)])


@dataclass
class CheckReport:
    """The result of a check; each of the `problems` names an object."""

    datasets: list[str] = field(default_factory=list)
    objects: int = 0
    size_bytes: int = 0
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {**asdict(self), "is_whole": not self.problems}


def check_archive(
    folder: ArchiveFolder, name: str | None = None, progress: Progress | None = None
) -> CheckReport:
    """Read everything of one dataset, or of all, and say what is wrong.

    Raises ArchiveMissingError if there is nothing to check.
    """
    report = CheckReport()
    sizes: dict[str, int] = {}
    claims = _Claims()
    for each in [name] if name is not None else folder.names():
        try:
            sizes |= _check_dataset(folder, each, claims)
        except ArchiveError as error:
            if name is not None and error.code == "archive_missing":
                raise
            report.problems.append(f"{each}: {error}")
        report.datasets.append(each)
    report.objects, report.size_bytes = len(sizes), sum(sizes.values())
    if progress is not None:
        progress.start("check", report.size_bytes, "bytes")
    with ThreadPoolExecutor(_THREADS, "atom-check") as pool:
        for key, problem in pool.map(lambda key: _check_object(folder, key, claims), sizes):
            if progress is not None:
                progress.advance("check", sizes[key])
            report.problems += [problem] if problem else []
    return report


def _check_dataset(folder: ArchiveFolder, name: str, claims: _Claims) -> dict[str, int]:
    """Return the sizes of the dataset's objects; what they say fits together."""
    history_digest, index_digest = folder.pointed(name)
    sizes = folder.index(index_digest)
    wrong = [key for key, size_bytes in sizes.items() if folder.size(key) != size_bytes]
    if wrong:
        raise ArchiveCorruptError(f"{wrong[0]} and {len(wrong) - 1} more are missing or cut off.")
    history = folder.history(history_digest)
    found = Followed(folder, claims.take).follow(history)
    unlisted = {*found.keys, *map(pack_key, found.packs)} - sizes.keys()
    if unlisted:
        raise ArchiveCorruptError(f"{min(unlisted)} is not in the index.")
    own = (history_key(history_digest), index_key(index_digest))
    return sizes | {key: folder.size(key) or 0 for key in own}


class _Claims:
    """The claims of the entries about each pack: offset, size and digest of its files."""

    def __init__(self) -> None:
        self._tables: defaultdict[bytes, list[pa.Table]] = defaultdict(list)

    def take(self, entries: pa.Table) -> None:
        """Take in the entries of a range."""
        for pack in entries["pack"].unique().drop_null().to_pylist():
            mine = entries.filter(pc.equal(entries["pack"], pa.scalar(pack, DIGEST)))
            self._tables[pack].append(mine.select(_PLACE))

    def wrong(self, pack: bytes, places: pa.Table) -> int:
        """Return how many files are not where the entries say."""
        if not self._tables[pack]:
            return 0
        wanted = pa.concat_tables(self._tables[pack]).cast(_PLACE_SCHEMA)
        unknown = wanted.join(places, keys=list(_PLACE), join_type="left anti")
        return len(unknown)


def _check_object(folder: ArchiveFolder, key: str, claims: _Claims) -> tuple[str, str]:
    """Return the key and what is wrong with it, "" if nothing is."""
    try:
        if not key.startswith("packs/"):
            return key, "" if folder.is_right(key) else f"{key} is not what its name says."
        members = verify_pack(folder.chunks(key), digest_in(key))
    except (AtomError, OSError) as error:
        return key, f"{key}: {error}"
    rows = ({"offset": m.offset, "size": m.size, "digest": m.digest} for m in members)
    wrong = claims.wrong(digest_in(key), pa.Table.from_pylist(list(rows), schema=_PLACE_SCHEMA))
    said = f"{key}: {counted(wrong, 'file is', 'files are')} not where the versions say."
    return key, said if wrong else ""


def manifest_keys(keys: Iterable[str]) -> Iterator[str]:
    """Return the keys of the objects that are not packs, sorted."""
    return (key for key in sorted(keys) if not key.startswith("packs/"))
