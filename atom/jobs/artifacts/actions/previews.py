"""Previews of the head of stored files; the name gives the kind, which the bytes must confirm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from atom.core import storage
from atom.core.parquet.preview import REASONS as PARQUET_REASONS
from atom.core.parquet.preview import preview_parquet
from atom.jobs import states
from atom.jobs.artifacts.engines.previews import tables, tensorboard, trees
from atom.jobs.artifacts.engines.previews.tensorboard import Scalars
from atom.jobs.logs.engines.log_text import text_of
from atom.jobs.metrics.engines.downsampling import downsample
from atom.jobs.metrics.engines.points import Points
from atom.jobs.models import Artifact

TEXT_BYTES: Final = 256 << 10
TABLE_BYTES: Final = 4 << 20
JSON_BYTES: Final = 2 << 20
YAML_BYTES: Final = 256 << 10
EVENTS_BYTES: Final = 8 << 20
IMAGE_BYTES: Final = 16 << 20
CURVE_POINTS: Final = 1000

KINDS: Final = ("none", "image", "table", "tree", "text", "markdown", "scalars")
# Why there is nothing to see.
NOT_STORED, UNKNOWN, TOO_LARGE, BINARY = "not_stored", "unknown", "too_large", "binary"
REASONS: Final = (*PARQUET_REASONS, NOT_STORED, UNKNOWN, TOO_LARGE, BINARY)
# Without SVG: it is a program rather than a picture.
# Types that the answer names, by ending; browsers check the bytes themselves.
PICTURE_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
}
_TEXTS = frozenset(
    {
        "txt", "log", "jsonl", "ndjson", "toml", "py", "cfg", "ini", "sh", "xml", "html", "htm",
        "svg", "js", "ts", "css", "sql", "rst", "tex", "yaml", "yml", "json", "csv", "tsv", "diff",
        "patch", "out", "err", "properties", "ipynb", "c", "cc", "cpp", "h", "cu", "rs", "go",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of an event file, thinned; `n` points are in the file."""

    key: str
    n: int
    points: Points


@dataclass(frozen=True, slots=True)
class Preview:
    """A preview of a file; only the fields of its kind are set.

    A table has a `reason` if only its columns could be read.
    """

    kind: str
    reason: str = ""
    truncated: bool = False
    text: str = ""
    value: Any = None
    numbers: Sequence[str] = ()
    table: tables.Table | None = None
    curves: list[Curve] = field(default_factory=list)
    others: int = 0


def preview(artifact: Artifact) -> Preview:
    """Return what the file holds. Raises ObjectMissing if its bytes are lost."""
    if artifact.state != states.PERSISTED:
        return Preview("none", NOT_STORED)
    name, ending = _name_of(artifact)
    if "tfevents" in name:
        return _scalars(artifact)
    if ending in PICTURE_TYPES:
        too_large = artifact.size_bytes > IMAGE_BYTES
        return Preview("none", TOO_LARGE) if too_large else Preview("image")
    if ending in _READERS:
        return _READERS[ending](artifact)
    if ending in _TEXTS or name in {"readme", "license", "makefile", "dockerfile"}:
        return _text(artifact, "text")
    return Preview("none", UNKNOWN)


def picture_type(artifact: Artifact) -> str | None:
    """Return the media type of a file that is shown as a picture, else None."""
    kind = PICTURE_TYPES.get(_name_of(artifact)[1])
    return kind if kind and preview(artifact).kind == "image" else None


def _name_of(artifact: Artifact) -> tuple[str, str]:
    """Return the file's name in lower case, and its ending."""
    name = artifact.path.rsplit("/", 1)[-1].lower()
    return name, name.rsplit(".", 1)[-1] if "." in name else ""


def _head(artifact: Artifact, most: int) -> tuple[bytes, bool]:
    """Return the first bytes of the file, and whether they are all."""
    end = min(artifact.size_bytes, most)
    return storage.objects().get_range(artifact.key, 0, end), end == artifact.size_bytes


def _text(artifact: Artifact, kind: str) -> Preview:
    data, whole = _head(artifact, TEXT_BYTES)
    if b"\0" in data:
        return Preview("none", BINARY)
    return Preview(kind, text=_decoded(data, whole=whole), truncated=not whole)


def _decoded(data: bytes, *, whole: bool) -> str:
    """Return the text; where the bytes were cut, a character that is not whole is left out."""
    return (data.decode("utf-8", "replace") if whole else text_of(data)).removeprefix("\ufeff")


def _table(artifact: Artifact, *, tabs: bool) -> Preview:
    data, whole = _head(artifact, TABLE_BYTES)
    if b"\0" in data:
        return Preview("none", BINARY)
    try:
        found = tables.read_table(_decoded(data, whole=whole), whole=whole, tabs=tabs)
    except tables.NotATableError:
        return _text(artifact, "text")
    return Preview("table", table=found, truncated=found.truncated)


def _parquet(artifact: Artifact) -> Preview:
    def read(start: int, end: int) -> bytes:
        return storage.objects().get_range(artifact.key, start, end)

    found = preview_parquet(read, artifact.size_bytes)
    if not found.columns:
        # A file without columns is whole and has nothing to show.
        return Preview("none", found.reason or UNKNOWN)
    table = tables.Table(
        columns=[tables.Column(**column) for column in found.columns],
        rows=found.rows,
        truncated=found.truncated,
        column_count=found.column_count,
        row_count=found.row_count,
        row_groups=found.row_groups,
        writer=found.writer,
    )
    return Preview("table", found.reason, table=table, truncated=found.truncated)


def _tree(artifact: Artifact, most: int, read: Callable[[str], trees.Tree]) -> Preview:
    data, whole = _head(artifact, most)
    if not whole:
        return _text(artifact, "text")
    try:
        found = read(data.decode("utf-8-sig"))
    except (trees.NotATreeError, UnicodeDecodeError):
        # A broken file is what one wants to look at.
        return _text(artifact, "text")
    return Preview("tree", value=found.value, numbers=found.numbers, truncated=found.truncated)


def _scalars(artifact: Artifact) -> Preview:
    data, whole = _head(artifact, EVENTS_BYTES)
    found = tensorboard.read_events(data, whole=whole)
    curves = [_curve(key, one) for key, one in sorted(found.scalars.items())]
    return Preview("scalars", curves=curves, others=found.others, truncated=found.truncated)


def _curve(key: str, scalars: Scalars) -> Curve:
    points = Points(
        np.array(scalars.steps, np.int64),
        np.array(scalars.ts_ms, np.int64),
        np.array(scalars.values, np.float64),
    )
    return Curve(key, len(points), downsample(points, CURVE_POINTS))


_READERS: Final[dict[str, Callable[[Artifact], Preview]]] = {
    "csv": partial(_table, tabs=False),
    "tsv": partial(_table, tabs=True),
    "parquet": _parquet,
    "pq": _parquet,
    "json": partial(_tree, most=JSON_BYTES, read=trees.read_json),
    "yaml": partial(_tree, most=YAML_BYTES, read=trees.read_yaml),
    "yml": partial(_tree, most=YAML_BYTES, read=trees.read_yaml),
    "md": partial(_text, kind="markdown"),
    "markdown": partial(_text, kind="markdown"),
}
