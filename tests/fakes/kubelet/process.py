"""A container's process, seen from the kubelet: its output, its signals and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Json = dict[str, Any]

_SHIM = Path(__file__).parent / "shim.py"
_CHUNK = 1 << 16
# The shim itself was killed, so nobody saw the exit code.
_UNSEEN = 137
# Parts of this machine that stand for an image's layers.
_LAYERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc")


class StartError(Exception):
    """The runtime could not start the container; the text is the runtime's."""


class Process:
    """One container that runs."""

    def __init__(
        self, spec: Json, folder: Path, write: Callable[[bytes], None], end: Callable[[int], None]
    ) -> None:
        """Start the container.

        `write` gets its output and `end` its exit code, both in a thread of their own. Raises
        StartError when the runtime cannot start it.
        """
        self._write, self._end = write, end
        path = folder / "spec.json"
        path.touch(0o600)
        path.write_text(json.dumps(spec))
        # With the shim's standard input open, the container lives as long as this process.
        self._shim = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SHIM), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        assert self._shim.stdout is not None
        first = json.loads(self._shim.stdout.readline() or b'{"error": "the shim ended"}')
        if "error" in first:
            self._close()
            raise StartError(first["error"])
        self.pid: int = first["pid"]
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def signal(self, number: int) -> None:
        """Send a signal to the first process; SIGKILL goes to all of them."""
        assert self._shim.stdin is not None
        try:
            self._shim.stdin.write(bytes([number]))
        except (BrokenPipeError, ValueError):
            # It has ended meanwhile.
            return

    def kill(self) -> None:
        """Kill the container with all its processes and wait until they are gone."""
        self.signal(signal.SIGKILL)
        self.join()

    def join(self, seconds: float = 30) -> None:
        """Wait until the container has ended and its output is read."""
        self._thread.join(seconds)

    @property
    def is_alive(self) -> bool:
        """Return whether the container or its shim still lives."""
        return self._shim.poll() is None

    def _follow(self) -> None:
        assert self._shim.stderr is not None
        assert self._shim.stdout is not None
        descriptor = self._shim.stderr.fileno()
        while data := os.read(descriptor, _CHUNK):
            self._write(data)
        last = self._shim.stdout.readline()
        self._close()
        self._end(json.loads(last)["exit"] if last else _UNSEEN)

    def _close(self) -> None:
        for pipe in (self._shim.stdin, self._shim.stdout, self._shim.stderr):
            if pipe is not None:
                pipe.close()
        self._shim.wait()


@cache
def image_paths() -> list[str]:
    """Return the folders of this machine that every image shows: its system and this Python."""
    import atom_sdk

    sdk = Path(atom_sdk.__file__).resolve().parents[1]
    python = [sys.base_prefix, sys.prefix, str(sdk)]
    paths: list[str] = [path for path in _LAYERS if os.path.exists(path)]
    for path in sorted(set(python), key=len):
        if not any(Path(path).is_relative_to(known) for known in paths):
            paths.append(path)
    return paths


@cache
def can_isolate() -> bool:
    """Return whether this user may give containers namespaces of their own."""
    if os.geteuid() != 0:
        return False
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "root").mkdir()
        spec: Json = {
            "isolated": True, "root": str(folder / "root"), "image": image_paths(), "mounts": [],
            "cwd": "/", "read_only": True, "hostname": "probe", "groups": [], "gid": 0, "uid": 0,
            "no_new_privileges": True, "env": {}, "argv": ["/bin/true"],
        }  # fmt: skip
        try:
            Process(spec, folder, lambda _: None, lambda _: None).join()
        except StartError:
            return False
    return True
