"""The content digests of all ranges of a large root in one object, so that groups stay unread.

The content digest of a root covers those of its ranges. A root in groups does not list them; the
object here does, and a commit takes those of the ranges that it leaves alone from it. It is named
by the digest that it proves, and may be missing: then the groups are read. Format: README.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blake3 import blake3

from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests.objects import ObjectStore, contents_key
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.roots.groups import GroupedRanges

_CONTENT_DOMAIN = b"atom-content/1\n"
_DIGEST_BYTES = 32


def root_content(contents: bytes) -> bytes:
    """Content digest of a root, of those of its ranges, one after the other."""
    return blake3(_CONTENT_DOMAIN + contents).digest()


def contents_of(ranges: Iterable[RangeRef]) -> bytes:
    """The content digests of ranges, one after the other."""
    return b"".join(part.content for part in ranges)


def write_contents(contents: bytes, store: ObjectStore) -> bytes:
    """Store the content digests of a root's ranges; returns the root's."""
    digest = root_content(contents)
    store.put(contents_key(digest), contents)
    return digest


def read_contents(content: bytes, ranges: GroupedRanges, store: ObjectStore) -> Sequence[bytes]:
    """The content digests of each group's ranges, one after the other.

    All groups are read if the object with these digests is not there, or is corrupt.
    """
    try:
        contents = store.get(contents_key(content))
    except ObjectNotFoundError:
        contents = b""
    if root_content(contents) != content:
        contents = contents_of(ranges)
    cut = []
    start = 0
    for group in ranges.groups:
        end = start + group.ranges * _DIGEST_BYTES
        cut.append(contents[start:end])
        start = end
    return cut
