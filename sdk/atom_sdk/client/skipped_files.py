"""A file that names all that was left out, where a terminal shows a number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from atom_sdk.client.config import cache_path
from atom_sdk.disk import whole_file
from atom_sdk.packs.walk import SkippedPath


def write_skipped_paths(what: str, key: bytes, left_out: Sequence[SkippedPath]) -> Path:
    """Write one line a path with its reason, replacing what the last `what` of `key` left out.

    Line breaks and other control characters of a path are escaped. Raises OSError.
    """
    name = hashlib.sha256(key).hexdigest()[:16]
    path = cache_path() / "left-out" / f"{what}-{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as temporary:
        lines = (f"{_shown(each.path)}\t{each.reason}\n" for each in left_out)
        temporary.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return path


def _shown(path: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)
