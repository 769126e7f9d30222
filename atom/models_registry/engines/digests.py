"""One digest for the files of a model."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from blake3 import blake3


@dataclass(frozen=True)
class FileDigest:
    """A file by its path within the model; digests in hex."""

    path: str
    sha256: str
    blake3: str


@dataclass(frozen=True)
class Digests:
    """Digests in hex."""

    sha256: str
    blake3: str


def digests_of_set(files: Sequence[FileDigest]) -> Digests:
    """Return the digests of all files together: a single file's are its own.

    For several it is the digest of `<digest>  <path>` lines sorted by path, which is what
    `sha256sum * | sha256sum` (or b3sum) prints.
    """
    if len(files) == 1:
        return Digests(files[0].sha256, files[0].blake3)
    ordered = sorted(files, key=lambda file: file.path.encode())
    sha256 = hashlib.sha256(b"".join(_lines((f.sha256, f.path) for f in ordered)))
    whole = blake3(b"".join(_lines((f.blake3, f.path) for f in ordered)))
    return Digests(sha256.hexdigest(), whole.hexdigest())


def digests_of_stream(chunks: Iterable[bytes | memoryview]) -> Digests:
    """Return both digests of one file's bytes."""
    sha256, whole = hashlib.sha256(), blake3()
    for chunk in chunks:
        sha256.update(chunk)
        whole.update(chunk)
    return Digests(sha256.hexdigest(), whole.hexdigest())


def _lines(pairs: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    for digest, path in pairs:
        yield f"{digest}  {path}\n".encode()
