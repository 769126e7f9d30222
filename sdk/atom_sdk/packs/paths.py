"""Which paths a dataset can hold.

Paths are kept exactly as given, byte for byte, and never changed to another Unicode normal form:
what was pushed is what is pulled. Two paths that only differ by case or normal form are allowed;
`case_collisions` finds them so that a client can warn.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable

from atom_sdk.errors import (
    AbsolutePathError,
    EmptyPathError,
    LinkTargetError,
    NulInPathError,
    PathNotNormalisedError,
    PathNotUnicodeError,
    PathTooLongError,
    PathTraversalError,
)

MAX_PATH_BYTES = 4095
MAX_SEGMENT_BYTES = 255
MAX_TARGET_BYTES = 4095

# Most paths; they need no further look, and packing many small files feels it.
_PLAIN = re.compile(
    r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}){0,20}"
)


def encode_path(path: str) -> bytes:
    """Check a path and return its UTF-8 bytes, by which everything is sorted.

    Raises one subclass of PathError per broken rule.
    """
    if _PLAIN.fullmatch(path):
        return path.encode()
    if not path:
        raise EmptyPathError(path)
    if path[0] == "/":
        raise AbsolutePathError(path)
    if "\0" in path:
        raise NulInPathError(path)
    try:
        encoded = path.encode()
    except UnicodeEncodeError as error:
        raise PathNotUnicodeError(path) from error
    _check_segments(path, encoded)
    return encoded


def _check_segments(path: str, encoded: bytes) -> None:
    segments = encoded.split(b"/")
    if b".." in segments:
        raise PathTraversalError(path)
    if b"" in segments or b"." in segments:
        raise PathNotNormalisedError(path)
    if len(encoded) > MAX_PATH_BYTES or max(map(len, segments)) > MAX_SEGMENT_BYTES:
        raise PathTooLongError(path)


def encode_target(path: str, target: str) -> bytes:
    """Check the target of the link at `path` and return its bytes. Raises LinkTargetError."""
    try:
        encoded = target.encode()
    except UnicodeEncodeError as error:
        raise LinkTargetError(path) from error
    if not 0 < len(encoded) <= MAX_TARGET_BYTES or b"\0" in encoded:
        raise LinkTargetError(path)
    return encoded


def case_collisions(paths: Callable[[], Iterable[str]]) -> list[tuple[str, ...]]:
    """Groups of paths that a case-insensitive or normalising file system would confuse.

    `paths` is called twice: first 8 bytes are kept of each, then those that may have company.
    """
    # Not above: every process that packs would wait for it.
    import numpy as np

    keys = np.fromiter((hash(_folded(path)) for path in paths()), np.int64)
    keys.sort()
    several = set(keys[1:][keys[1:] == keys[:-1]].tolist())
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths() if several else ():
        if hash(folded := _folded(path)) in several:
            groups[folded].append(path)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
