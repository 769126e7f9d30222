"""Files of a version that an import could read: archives, and annotations by their names.

Only names are looked at, so a sign is an offer to look and no promise: the import opens the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.data_counts import COUNTED_FILES
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom_sdk.manifests.links import without_links

NAMED_ARCHIVES: Final = 50
_CACHE_BYTES: Final = 4 << 20
_ARCHIVE = r"(?i)\.(zip|tar|tgz|tbz2|txz|tar\.(gz|bz2|xz|zst))$"
# The surest first: a folder of Hugging Face has tables and pictures as others have them.
_SIGNS: Final = {
    "huggingface": r"(?i)(^|/)metadata\.(jsonl|csv|parquet)$",
    "yolo": r"(?i)(^|/)((data|dataset)\.ya?ml|classes\.txt|obj\.(names|data))$",
    "coco": r"(?i)(^|/)(instances_[^/]*|person_keypoints_[^/]*|[^/]*coco[^/]*|annotations?)\.json$"
    r"|(?i)(^|/)annotations?/[^/]+\.json$",
    "voc": r"(?i)\.xml$",
    "parquet": r"(?i)\.parquet$",
    "csv": r"(?i)\.(csv|tsv)$",
}
# Without pictures beside them, these are files of any kind.
_BESIDE_PICTURES: Final = frozenset(["voc", "csv", "coco"])
SIGN_FORMATS: Final = tuple(_SIGNS)


@dataclass(frozen=True)
class Archive:
    """An archive among the files."""

    path: str
    size_bytes: int


@dataclass(frozen=True)
class Sign:
    """Files that look like annotations of a format; `first` is one of them."""

    format: str
    files: int
    first: str


@dataclass(frozen=True)
class ImportSigns:
    """Archives and signs of a version; not complete where it has too many files to look at."""

    files: int
    pictures: int = 0
    archives: list[Archive] = field(default_factory=list)
    archives_total: int = 0
    signs: list[Sign] = field(default_factory=list)
    is_complete: bool = True

    @property
    def size_bytes(self) -> int:
        """Return about how much memory this takes."""
        paths = [one.path for one in self.archives] + [one.first for one in self.signs]
        return 500 + sum(200 + len(path) for path in paths)


# By the content of the version: every visit of its page asks.
_seen: ByteCache[ImportSigns] = ByteCache(_CACHE_BYTES, lambda found: found.size_bytes)


def find_signs(browser: VersionBrowser) -> ImportSigns:
    """Return the archives and annotations of a version by their names."""
    if browser.root.count > COUNTED_FILES:
        return ImportSigns(browser.root.files, is_complete=False)
    return _seen.get(browser.root.content, lambda: _find(browser))


def _find(browser: VersionBrowser) -> ImportSigns:
    files = browser.root.files
    pictures = total = 0
    archives: list[Archive] = []
    counts = dict.fromkeys(_SIGNS, 0)
    firsts: dict[str, str] = {}
    for table in _tables(browser):
        paths = table["path"]
        pictures += pc.sum(pc.starts_with(table["media_type"], "image/")).as_py() or 0
        packed = table.filter(pc.match_substring_regex(paths, _ARCHIVE))
        total += len(packed)
        archives += [Archive(row["path"], row["size"]) for row in packed.to_pylist()]
        for name, pattern in _SIGNS.items():
            found = paths.filter(pc.match_substring_regex(paths, pattern))
            counts[name] += len(found)
            if len(found):
                firsts.setdefault(name, found[0].as_py())
    if "huggingface" in firsts:
        # Its tables are those that were found as such.
        counts["csv"] = counts["parquet"] = 0
    signs = [
        Sign(name, count, firsts[name])
        for name, count in counts.items()
        if count and (pictures or name not in _BESIDE_PICTURES)
    ]
    return ImportSigns(files, pictures, archives[:NAMED_ARCHIVES], total, signs)


def _tables(browser: VersionBrowser) -> Iterator[pa.Table]:
    for part in browser.root.ranges:
        files = without_links(browser.entries(part))
        yield files.select(["path", "size", "media_type"])
