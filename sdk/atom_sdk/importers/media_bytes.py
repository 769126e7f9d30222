"""The ending of a file's name by its first bytes, or by the name that it had."""

from __future__ import annotations

from pathlib import PurePosixPath

HEAD_BYTES = 16
_MAGIC = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
    b"fLaC": ".flac",
    b"OggS": ".ogg",
    b"ID3": ".mp3",
    b"\xff\xfb": ".mp3",
    b"\x1aE\xdf\xa3": ".mkv",
}
_RIFF = {b"WEBP": ".webp", b"WAVE": ".wav", b"AVI ": ".avi"}
_MOST_SUFFIX = 10


def suffix_of(head: bytes, name: str | None = None) -> str | None:
    """Return the ending for bytes that begin so, else that of `name`, None for neither."""
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[4:8] == b"ftyp":
        return ".avif" if head[8:12] == b"avif" else ".mp4"
    by_magic = next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), None)
    if by_magic is None and name:
        suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
        return suffix if suffix.isascii() and len(suffix) <= _MOST_SUFFIX and suffix else None
    return by_magic
