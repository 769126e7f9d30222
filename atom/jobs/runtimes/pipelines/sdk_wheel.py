"""The SDK as a wheel for job environments, built once per state of its sources."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from blake3 import blake3

SOURCES = Path(__file__).resolve().parents[4] / "sdk"
_BUILD_TIMEOUT_S = 300


@lru_cache(maxsize=2)
def sdk_digest(sources: Path = SOURCES, without: str = "") -> str:
    """Return the digest of the SDK's sources, less one of its packages; read once a process."""
    digest = blake3()
    files = [sources / "pyproject.toml", *sorted(sources.glob("atom_sdk/**/*"))]
    for path in files:
        if without and path.is_relative_to(sources / "atom_sdk" / without):
            continue
        if path.is_file() and path.suffix in {".py", ".toml", ".typed", ".md"}:
            digest.update(path.relative_to(sources).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def ensure_wheel(home: Path, sources: Path = SOURCES) -> Path:
    """Return the wheel of the SDK's present sources, building it if needed."""
    folder = home / "wheels" / sdk_digest(sources)[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted(folder.glob("*.whl"))
        return found[0] if found else _build(sources, folder)


def _build(sources: Path, folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        # A copy: building in place would leave build/ and egg-info in the sources.
        copy = Path(scratch) / "sdk"
        shutil.copytree(
            sources, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        )
        # With the server's own setuptools: another would have to be fetched and unpacked.
        command = [
            sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
            "--no-input", "--quiet", "--wheel-dir", scratch, str(copy),
        ]  # fmt: skip
        subprocess.run(command, check=True, timeout=_BUILD_TIMEOUT_S, capture_output=True)
        built = next(Path(scratch).glob("*.whl"))
        # Rename at the end, so that a file with the final name is always complete.
        half = Path(shutil.copy(built, folder / ".half"))
        return half.rename(folder / built.name)
