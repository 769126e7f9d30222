"""The Python that jobs start from: one that a job's own user can reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from atom.jobs.runtimes.pipelines.copies import copy_once

_TRAVERSE = 0o001
_COPY_LEAVES_OUT = shutil.ignore_patterns("site-packages", "__pycache__", "test", "tests", "share")


def is_open(path: Path) -> bool:
    """Return whether every user may enter `path` and the folders above it."""
    resolved = path.resolve()
    return all(folder.stat().st_mode & _TRAVERSE for folder in (resolved, *resolved.parents))


def can_isolate(home: Path) -> bool:
    """Return whether jobs can have users of their own: we are root and they can reach `home`."""
    return os.geteuid() == 0 and home.exists() and is_open(home)


def require_open(folder: Path) -> None:
    """Raise PermissionError, saying what to do, unless the users of jobs can enter `folder`."""
    if not is_open(folder):
        raise PermissionError(
            f"The users of jobs cannot enter {folder}: run chmod o+x on it and on the folders"
            " above it, or name another folder in ATOM_RUNTIMES_DIR."
        )


@lru_cache(maxsize=4)
def base_python(home: Path, *, isolated: bool) -> Path:
    """Return the interpreter for jobs, of the server's own minor version.

    With isolation it must be outside of root's closed folders. It is then the server's own, else
    the system's, else a copy that is made once.
    """
    own = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    if not isolated or is_open(own):
        return own
    for folder in ("/usr/local/bin", "/usr/bin"):
        system = Path(folder) / own.name
        if system.exists() and is_open(system) and _has_venv(system):
            return system
    return _copied(own, home)


def _has_venv(python: Path) -> bool:
    done = subprocess.run(
        [python, "-I", "-c", "import venv, ssl"], capture_output=True, check=False
    )
    return done.returncode == 0


def _copied(own: Path, home: Path) -> Path:
    target = home / "python" / sys.version.split()[0]
    copy_once(Path(sys.base_prefix), target, _COPY_LEAVES_OUT)
    return target / "bin" / own.name


def library_path(python: Path) -> dict[str, str]:
    """Return the variables that a copied interpreter needs to find its shared library."""
    folder = python.parent.parent / "lib"
    copied = python.parent.parent.parent.name == "python"
    return {"LD_LIBRARY_PATH": str(folder)} if copied else {}


@lru_cache(maxsize=4)
def version_of(python: Path) -> str:
    """Return the interpreter's full version, such as `3.11.7`."""
    command = [str(python), "-I", "-c", "import platform; print(platform.python_version())"]
    environment = {"PATH": os.defpath, **library_path(python)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()
