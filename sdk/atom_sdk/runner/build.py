"""Builds the zipapp: `python -m atom_sdk.runner.build FOLDER`. Not part of it."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

PACKAGE = "atom_runner"
MAIN = f"import sys\nfrom {PACKAGE}.__main__ import main\nsys.exit(main())\n"
# The same sources give the same bytes: zip's oldest date.
_DATE = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = frozenset({"build.py", "bootstrap.py", "reach.py"})


def build_runner(folder: Path) -> Path:
    """Write `runner-<digest>.pyz` to a folder, unless it is there, and return its path."""
    content = _zip()
    path = folder / f"runner-{hashlib.sha256(content).hexdigest()[:16]}.pyz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(content)
        temporary.chmod(0o755)
        temporary.replace(path)
    return path


def bootstrap_source() -> str:
    """Return the program that downloads the runner, for `python3 -c` in an init container."""
    return (Path(__file__).parent / "bootstrap.py").read_text("utf-8")


def reach_source() -> str:
    """Return the program that tries addresses from inside a pod, for `python3 -c`."""
    return (Path(__file__).parent / "reach.py").read_text("utf-8")


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "__main__.py", MAIN.encode())
        for source in sorted(Path(__file__).parent.glob("*.py")):
            if source.name not in _LEFT_OUT:
                # Under its own name: `atom_sdk` of the job's runtime must not be found first.
                _add(archive, f"{PACKAGE}/{source.name}", source.read_bytes())
    return b"#!/usr/bin/env python3\n" + buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    print(build_runner(Path(sys.argv[1])))
