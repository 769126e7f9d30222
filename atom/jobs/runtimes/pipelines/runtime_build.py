"""Builds a job's Python environment: a virtual environment filled by pip.

The folder is named by its digest. The marker file is written last, so a folder without it is not
complete; remains of a killed build are deleted. The lock file keeps a second builder out.
With a `Builder`, code of requirements runs as a user without any rights.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from atom.jobs.runtimes.engines.requirements import has_hashes
from atom.jobs.runtimes.pipelines.builder import GID, UMASK, Builder
from atom.jobs.runtimes.pipelines.interpreter import library_path
from atom_sdk.runner.evidence import storable

MARKER = ".atom-ready"
_KEPT_VARIABLES = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
TAIL_LINES = 200
_DIST_INFO = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*)-([A-Za-z0-9][A-Za-z0-9._!+]*)\.dist-info")
# A killed process may take a moment to go while the machine is busy.
_END_TIMEOUT_S = 3.0


class BuildFailedError(Exception):
    """pip or venv failed; `tail` holds its last lines."""

    def __init__(self, tail: str) -> None:
        """Keep the last lines of the output."""
        super().__init__("The environment could not be built.")
        self.tail = tail


class BuildBusyError(Exception):
    """Another process on this machine builds the same environment."""


@dataclass(frozen=True, slots=True)
class RuntimeSpec:
    """The contents and path of an environment, and the builder and pip that make it."""

    path: Path
    python: Path
    requirements: str
    sdk_wheel: Path
    pip: Path
    pip_options: tuple[str, ...] = ()
    timeout_s: float = 1500.0
    builder: Builder | None = None


def is_ready(path: Path) -> bool:
    """Return whether a complete environment is at `path`, and the Python that it stands on."""
    return (path / MARKER).exists() and (path / "bin" / "python").exists()


def size_bytes(path: Path) -> int:
    """Return how much the files of an environment hold."""
    return sum(
        (Path(folder) / name).lstat().st_size
        for folder, _, files in os.walk(path)
        for name in files
    )


def build(spec: RuntimeSpec, on_line: Callable[[str], None]) -> int:
    """Build the environment and return its size in bytes; `on_line` hears every line.

    Raises BuildFailedError, BuildBusyError.
    """
    spec.path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(spec.path.with_suffix(".lock")):
        if not is_ready(spec.path):
            on_line("Making an empty environment")
            _make(spec, on_line)
            _seal(spec.path)
        return size_bytes(spec.path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BuildBusyError from error
        yield


def _make(spec: RuntimeSpec, on_line: Callable[[str], None]) -> None:
    builder, ends_at_s = spec.builder, time.monotonic() + spec.timeout_s
    if builder is not None:
        builder.prepare()
    shutil.rmtree(spec.path, ignore_errors=True)
    spec.path.mkdir()
    requirements = spec.path / "requirements.txt"
    requirements.write_text(spec.requirements, encoding="utf-8")
    requirements.chmod(0o644)
    try:
        if builder is not None:
            builder.own(spec.path)
        _run(_venv(spec), spec, ends_at_s, on_line)
        _install(spec, requirements, ends_at_s, on_line)
    finally:
        if builder is not None:
            shutil.rmtree(builder.home, ignore_errors=True)
    if builder is not None:
        builder.hand_back(spec.path)


def _venv(spec: RuntimeSpec) -> list[str | Path]:
    return [spec.python, "-I", "-m", "venv", "--without-pip", spec.path]


def _install(
    spec: RuntimeSpec, requirements: Path, ends_at_s: float, on_line: Callable[[str], None]
) -> None:
    wanted: list[str | Path] = ["-r", requirements]
    if not has_hashes(spec.requirements):
        _run(_pip_install(spec, [*wanted, spec.sdk_wheel]), spec, ends_at_s, on_line)
        return
    # pip would ask for a hash of everything that it is given, even of Atom's own wheel. Pin the
    # installed packages: no hash vouches for another version of them.
    _run(_pip_install(spec, wanted), spec, ends_at_s, on_line)
    _run(_pip_install(spec, [spec.sdk_wheel, *_installed(spec)]), spec, ends_at_s, on_line)


def _installed(spec: RuntimeSpec) -> list[str]:
    """Return `name==version` of all that is there, by the names of folders.

    Nothing in them is read: they belong to the builder, who may have put links there.
    """
    folders = spec.path.glob("lib/python3*/site-packages/*.dist-info")
    found = (_DIST_INFO.fullmatch(folder.name) for folder in folders)
    return sorted(f"{one[1]}=={one[2]}" for one in found if one)


def _pip_install(spec: RuntimeSpec, wanted: Sequence[str | Path]) -> list[str | Path]:
    # The server's pip, run by the new environment's interpreter, which needs none of its own.
    options = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    if spec.builder is not None:
        options += ["--cache-dir", str(spec.builder.cache)]
    python = spec.path / "bin" / "python"
    return [python, "-I", spec.pip, "install", *options, *spec.pip_options, *wanted]


def _run(
    command: Sequence[str | Path],
    spec: RuntimeSpec,
    ends_at_s: float,
    on_line: Callable[[str], None],
) -> None:
    tail: list[str] = []
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=spec.path,
        env=_environment(spec),
        start_new_session=True,
        **_user(spec.builder),
    )
    limit = threading.Timer(
        max(0.0, ends_at_s - time.monotonic()), _kill_all, [process.pid, spec.builder]
    )
    limit.start()
    try:
        for line in process.stdout or ():
            said = storable(line.rstrip())
            tail = [*tail[-TAIL_LINES:], said]
            on_line(said)
        process.wait()
    finally:
        limit.cancel()
        _kill_all(process.pid, spec.builder)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        if time.monotonic() >= ends_at_s:
            tail.append(f"The build took longer than {spec.timeout_s:g} s and was stopped.")
        raise BuildFailedError("\n".join(tail))


def _user(builder: Builder | None) -> dict[str, Any]:
    if builder is None:
        return {}
    return {"user": builder.uid, "group": GID, "extra_groups": [], "umask": UMASK}


def _kill_all(pid: int, builder: Builder | None) -> None:
    """End a command and its children: a child that holds its pipe would keep the build waiting."""
    family: list[psutil.Process] = []
    with suppress(psutil.Error):
        family = psutil.Process(pid).children(recursive=True)
    for process in family:
        with suppress(psutil.Error):
            process.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    psutil.wait_procs(family, timeout=_END_TIMEOUT_S)
    if builder is not None:
        builder.end_processes()


def _environment(spec: RuntimeSpec) -> dict[str, str]:
    # Requirements may run code of their own: it gets pip's settings and none of our secrets.
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    home = str(spec.builder.home) if spec.builder else os.environ.get("HOME", "/")
    temporary = {"TMPDIR": home} if spec.builder else {}
    return {**kept, **pip, "HOME": home, **temporary, **library_path(spec.python)}


def _seal(path: Path) -> None:
    """Mark as complete, readable by every job's user and writable by none."""
    for folder, names, files in os.walk(path):
        os.chmod(folder, 0o755)
        for name in files:
            file = Path(folder) / name
            # More than one name: it may be a link to something outside of the environment.
            if not file.is_symlink() and file.stat().st_nlink == 1:
                file.chmod(file.stat().st_mode & 0o111 | 0o444)
        del names
    (path / MARKER).touch()
