"""A package that is built from source without any download, to see who builds it."""

from __future__ import annotations

import zipfile
from pathlib import Path

_PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "atom-who"
version = "1"
"""
_BACKEND = """
import os, subprocess, sys, zipfile
def build_wheel(folder, settings=None, metadata=None):
    readable = []
    for path in {looked_at!r}:
        try:
            os.listdir(path)
            readable.append(path)
        except PermissionError:
            pass
    {extra}
    name = "atom_who-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        seen = dict(uid=os.getuid(), groups=os.getgroups(), readable=readable,
                    secrets=[n for n in os.environ if "SECRET" in n])
        wheel.writestr("atom_who.py", "SEEN = " + repr(seen))
        wheel.writestr("atom_who-1.dist-info/METADATA",
                       "Metadata-Version: 2.1\\nName: atom-who\\nVersion: 1\\n")
        wheel.writestr("atom_who-1.dist-info/WHEEL",
                       "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\n"
                       "Tag: py3-none-any\\n")
        wheel.writestr("atom_who-1.dist-info/RECORD", "")
    return name
"""


def write_source(folder: Path, looked_at: list[str], extra: str = "pass") -> str:
    """Write the package; return the requirement. Its build runs `extra`, a line of Python."""
    source = folder / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(_PROJECT)
    (source / "backend.py").write_text(_BACKEND.format(looked_at=looked_at, extra=extra))
    return f"atom-who @ file://{source}\n"


def write_wheel(folder: Path, name: str = "nothing") -> Path:
    """Write a wheel; it stands for the SDK unless it has another name."""
    path = folder / f"atom_{name}-1-py3-none-any.whl"
    described = f"atom_{name}-1.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(
            f"{described}/METADATA", f"Metadata-Version: 2.1\nName: atom-{name}\nVersion: 1\n"
        )
        wheel.writestr(
            f"{described}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{described}/RECORD", "")
    return path
