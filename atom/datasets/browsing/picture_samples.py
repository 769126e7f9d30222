"""Opens a few pictures of a version for real: their bytes are read and decoded."""

from __future__ import annotations

from collections.abc import Iterable

from atom.accounts.models import Project
from atom.core import storage
from atom.datasets.browsing.engines.data_counts import PictureEntry
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom.datasets.keys import pack_key
from atom.datasets.packs.engines.images import decoding_problem

# A larger one is not opened here; a run may well read it.
MAX_PICTURE_BYTES = 8 << 20
# By digest: the same bytes decode, or do not, for ever.
_problems: ByteCache[str] = ByteCache(1 << 20, lambda problem: 100 + len(problem))


def unreadable_among(project: Project, pictures: Iterable[PictureEntry]) -> dict[str, str]:
    """Return why pictures cannot be decoded, by path. Raises ObjectMissing."""
    problems = {one.path: _problem_of(project, one) for one in pictures}
    return {path: problem for path, problem in problems.items() if problem}


def _problem_of(project: Project, picture: PictureEntry) -> str:
    if picture.size_bytes > MAX_PICTURE_BYTES:
        return ""
    return _problems.get(picture.digest, lambda: decoding_problem(_bytes_of(project, picture)))


def _bytes_of(project: Project, picture: PictureEntry) -> bytes:
    if not picture.size_bytes:
        return b""
    key = storage.project_prefix(project) + pack_key(picture.pack)
    end = picture.offset + picture.size_bytes
    return storage.objects().get_range(key, picture.offset, end)
