"""Builds a job's Python environment: a virtual environment filled by pip.

The folder is named by its digest and complete only when the marker file is there, which is
written last; what a killed builder left is thrown away. The lock file keeps a second builder out.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from atom.jobs.pipelines.interpreter import library_path

MARKER = ".atom-ready"
_KEPT_VARIABLES = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
TAIL_LINES = 200


class BuildFailedError(Exception):
    """pip or venv said no; `tail` holds its last lines."""

    def __init__(self, tail: str) -> None:
        """Keep what was said last."""
        super().__init__("The environment could not be built.")
        self.tail = tail


class BuildBusyError(Exception):
    """Another process on this machine builds the same environment."""


@dataclass(frozen=True, slots=True)
class RuntimeSpec:
    """What goes into an environment, and where."""

    path: Path
    python: Path
    requirements: str
    sdk_wheel: Path
    pip_options: tuple[str, ...] = ()


def is_ready(path: Path) -> bool:
    """Return whether a complete environment is at `path`."""
    return (path / MARKER).exists()


def build(spec: RuntimeSpec, on_line: Callable[[str], None]) -> int:
    """Build the environment and return its size in bytes; `on_line` hears every line.

    Raises BuildFailedError, BuildBusyError.
    """
    spec.path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(spec.path.with_suffix(".lock")):
        if not is_ready(spec.path):
            shutil.rmtree(spec.path, ignore_errors=True)
            _make(spec, on_line)
            _seal(spec.path)
        return _size_bytes(spec.path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BuildBusyError from error
        yield


def _make(spec: RuntimeSpec, on_line: Callable[[str], None]) -> None:
    _run([spec.python, "-I", "-m", "venv", "--without-pip", spec.path], spec, on_line)
    requirements = spec.path / "requirements.txt"
    requirements.write_text(spec.requirements, encoding="utf-8")
    # The server's own pip installs into the new environment, which needs none of its own.
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        spec.path / "bin" / "python",
        "install",
    ]
    options = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    sources: list[str | Path] = ["-r", requirements, spec.sdk_wheel]
    _run([*pip, *options, *spec.pip_options, *sources], spec, on_line)


def _run(command: Sequence[str | Path], spec: RuntimeSpec, on_line: Callable[[str], None]) -> None:
    tail: list[str] = []
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=_environment(spec.python),
    )
    try:
        for line in process.stdout or ():
            tail = [*tail[-TAIL_LINES:], line.rstrip()]
            on_line(line.rstrip())
    except BaseException:
        process.kill()
        raise
    finally:
        code = process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if code != 0:
        raise BuildFailedError("\n".join(tail))


def _environment(python: Path) -> dict[str, str]:
    # Requirements may run code of their own: it gets pip's settings and none of our secrets.
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, **pip, "HOME": os.environ.get("HOME", "/"), **library_path(python)}


def _seal(path: Path) -> None:
    """Mark as complete, readable by every job's user and writable by none."""
    for folder, names, files in os.walk(path):
        os.chmod(folder, 0o755)
        for name in files:
            file = Path(folder) / name
            if not file.is_symlink():
                file.chmod(file.stat().st_mode & 0o111 | 0o444)
        del names
    (path / MARKER).touch()


def _size_bytes(path: Path) -> int:
    return sum(
        (Path(folder) / name).lstat().st_size
        for folder, _, files in os.walk(path)
        for name in files
    )
