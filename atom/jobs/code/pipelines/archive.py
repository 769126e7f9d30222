"""Code snapshots: a tar.gz whose bytes depend on the files only."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path


def pack_files(folder: Path, names: Iterable[str]) -> bytes:
    """Return a tar.gz of the named files, in order of their names, without owners or times."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(names):
            content = (folder / name).read_bytes()
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
