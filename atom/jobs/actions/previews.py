"""The head of a stored file as a page can show it: the kind is told by its name, then checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from atom.core import storage
from atom.jobs import states
from atom.jobs.engines.downsampling import downsample
from atom.jobs.engines.points import Points
from atom.jobs.engines.previews import tables, tensorboard, trees
from atom.jobs.engines.previews.tensorboard import Scalars
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
REASONS: Final = ("", NOT_STORED, UNKNOWN, TOO_LARGE, BINARY)
# Without SVG: it is a program rather than a picture.
_IMAGES = frozenset({"png", "jpg", "jpeg", "gif", "webp", "bmp"})
_TABLES = frozenset({"csv", "tsv"})
_TREES: dict[str, tuple[int, Callable[[str], trees.Tree]]] = {
    "json": (JSON_BYTES, trees.read_json),
    "yaml": (YAML_BYTES, trees.read_yaml),
    "yml": (YAML_BYTES, trees.read_yaml),
}
_MARKDOWN = frozenset({"md", "markdown"})
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
    """What is shown of a file; only the fields of its kind are set."""

    kind: str
    reason: str = ""
    truncated: bool = False
    text: str = ""
    value: Any = None
    table: tables.Table | None = None
    curves: list[Curve] = field(default_factory=list)
    others: int = 0


def preview(artifact: Artifact) -> Preview:
    """Return what the file holds. Raises ObjectMissing if its bytes are lost."""
    if artifact.state != states.PERSISTED:
        return Preview("none", NOT_STORED)
    name = artifact.path.rsplit("/", 1)[-1].lower()
    ending = name.rsplit(".", 1)[-1] if "." in name else ""
    if "tfevents" in name:
        return _scalars(artifact)
    if ending in _IMAGES:
        too_large = artifact.size_bytes > IMAGE_BYTES
        return Preview("none", TOO_LARGE) if too_large else Preview("image")
    if ending in _TABLES:
        return _table(artifact, tabs=ending == "tsv")
    if ending in _TREES:
        return _tree(artifact, *_TREES[ending])
    if ending in _MARKDOWN:
        return _text(artifact, "markdown")
    if ending in _TEXTS or name in {"readme", "license", "makefile", "dockerfile"}:
        return _text(artifact, "text")
    return Preview("none", UNKNOWN)


def _head(artifact: Artifact, most: int) -> tuple[bytes, bool]:
    """Return the first bytes of the file, and whether they are all."""
    end = min(artifact.size_bytes, most)
    return storage.objects().get_range(artifact.key, 0, end), end == artifact.size_bytes


def _text(artifact: Artifact, kind: str) -> Preview:
    data, whole = _head(artifact, TEXT_BYTES)
    if b"\0" in data:
        return Preview("none", BINARY)
    return Preview(kind, text=data.decode("utf-8-sig", "replace"), truncated=not whole)


def _table(artifact: Artifact, *, tabs: bool) -> Preview:
    data, whole = _head(artifact, TABLE_BYTES)
    if b"\0" in data:
        return Preview("none", BINARY)
    try:
        found = tables.read_table(data.decode("utf-8-sig", "replace"), whole=whole, tabs=tabs)
    except tables.NotATableError:
        return _text(artifact, "text")
    return Preview("table", table=found, truncated=found.truncated)


def _tree(artifact: Artifact, most: int, read: Callable[[str], trees.Tree]) -> Preview:
    data, whole = _head(artifact, most)
    if not whole:
        return _text(artifact, "text")
    try:
        found = read(data.decode("utf-8-sig"))
    except (trees.NotATreeError, UnicodeDecodeError):
        # A broken file is what one wants to look at.
        return _text(artifact, "text")
    return Preview("tree", value=found.value, truncated=found.truncated)


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
