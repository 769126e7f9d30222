"""Which program a running stack was started from, to notice that the checkout has moved on."""

import hashlib
from pathlib import Path

from atom.settings.environment import BASE_DIR

# Files that the processes of a stack load, or keep a list of.
_PROGRAM = ("atom/**/*.py", "atom/**/*.json", "sdk/atom_sdk/**/*.py", "frontend/dist/index.html")


def fingerprint(root: Path = BASE_DIR) -> str:
    """Return a digest of the program's files: their paths, sizes and times of change."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _PROGRAM for path in root.glob(pattern)):
        found = path.stat()
        digest.update(f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
