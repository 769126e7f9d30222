"""Log chunks in object storage: zstd over concatenated frames, never changed once written."""

from __future__ import annotations

from functools import lru_cache

import zstandard

from atom.core import storage

_LEVEL = 3


def chunk_key(project_id: str, attempt_id: str, name: str, start: int, end: int) -> str:
    """Return the key; its range is in the name, so the same range is the same bytes."""
    return f"p/{project_id}/logs/{attempt_id}/{name}/{start:015d}-{end:015d}.zst"


def write_chunk(key: str, body: bytes) -> int:
    """Store a body of frames and return the compressed size in bytes."""
    data = zstandard.ZstdCompressor(level=_LEVEL).compress(body)
    storage.objects().put(key, data)
    return len(data)


@lru_cache(maxsize=32)
def read_chunk(key: str) -> bytes:
    """Return the body of a chunk; recent ones are kept, since pages read in small steps."""
    return zstandard.ZstdDecompressor().decompress(storage.objects().get(key))
