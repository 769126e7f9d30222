"""Sends output files: presign, PUT, complete."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from .api import Api, ApiError, UnreachableError, backoff_s
from .config import AttemptPaths, write_json
from .disk import suppressing_refusals
from .inputs import put_once
from .outputs import OutputFile, OutputScan

SCAN_EVERY_S = 5.0
CHUNK_BYTES = 1024 * 1024
PUT_TRIES = 6
NEW_ADDRESS_TRIES = 3


class ChangedError(Exception):
    """The file changed or went away while it was sent; the next scan takes it again."""


class _YieldedError(Exception):
    """A checkpoint is to be sent before this file; a later scan takes it again."""


class StorageRefusedError(Exception):
    """The storage did not take a file."""


class OutputSync:
    """A thread that keeps the server's copy of the outputs up to date."""

    def __init__(self, api: Api, paths: AttemptPaths) -> None:
        """Go on from what an earlier runner has sent."""
        self._api = api
        self._folder = paths.outputs
        self._state_path = paths.spool / "outputs.json"
        self._sent = _load(self._state_path)
        self._sent_at_s: dict[str, float] = {}
        self._scan = OutputScan(paths.outputs)
        self._stopping = threading.Event()
        self._soon = threading.Event()
        # No event: it is set by a signal's handler, which may interrupt the thread that holds it.
        self._hurried = False
        self._thread = threading.Thread(target=self._run, name="outputs", daemon=True)
        self.failed: dict[str, str] = {}

    def start(self) -> None:
        """Begin to scan."""
        self._thread.start()

    def sync_soon(self) -> None:
        """Scan now: the command is to stop."""
        self._soon.set()

    def hurry(self) -> None:
        """Send checkpoints first from now on, the newest before all: time is short.

        The upload of another file is given up at its next block and begun again after them.
        """
        self._scan.checkpoints_first = True
        self._hurried = True

    @property
    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def finish(self, wait_s: float) -> bool:
        """Send everything that is left; return whether all of it arrived."""
        # The command may have saved a checkpoint while another file was on its way.
        self._hurried = self._scan.checkpoints_first
        self._stopping.set()
        self._soon.set()
        self._thread.join(wait_s)
        return not self._thread.is_alive() and not self.failed

    @property
    def counters(self) -> dict[str, int]:
        """How much was sent, failed and left out."""
        return {
            "files_sent": len(self._sent),
            "files_failed": len(self.failed),
            "files_left_out": self._scan.left_out,
        }

    def _run(self) -> None:
        try:
            while not self._wait_for_scan():
                self._send_all(lambda: self._scan.ready(self._sent, self._sent_at_s))
            for _ in range(3):  # a process that outlived the command may still write
                groups = self._send_all(lambda: self._scan.all_left(self._sent))
                if not groups:
                    break
            for group in self._scan.all_left(self._sent):
                for file in group:
                    self.failed.setdefault(file.path, "It kept changing while it was sent.")
        except UnreachableError as error:
            self.failed["*"] = str(error)
        finally:
            self._api.disconnect()

    def _wait_for_scan(self) -> bool:
        """Return whether the command has ended, so that the last scan is due instead."""
        self._soon.wait(SCAN_EVERY_S)
        self._soon.clear()
        return self._stopping.is_set()

    def _send_all(self, scan: Callable[[], list[list[OutputFile]]]) -> list[list[OutputFile]]:
        """Send what a scan finds, and scan again when time becomes short; return what it found."""
        self._hurried = False
        groups = scan()
        while not self._send_groups(groups):
            self._hurried = False
            groups = scan()
        return groups

    def _send_groups(self, groups: list[list[OutputFile]]) -> bool:
        """Return whether all were tried, and none yielded to a checkpoint."""
        for group in groups:
            try:
                self._send(group)
            except _YieldedError:
                return False
            except ChangedError:
                continue
            except (ApiError, StorageRefusedError, OSError) as error:
                self.failed.update((file.path, str(error)) for file in group)
        return True

    def _give_way(self, file: OutputFile) -> None:
        """Raise _YieldedError if time has become short and the file is of no checkpoint."""
        if self._hurried and file.kind != "checkpoint":
            raise _YieldedError(file.path)

    def _send(self, group: list[OutputFile]) -> None:
        digests = {file.path: self._sha256(file) for file in group}
        request = {"files": [_describe(file, digests[file.path]) for file in group]}
        by_path = {file.path: file for file in group}
        for left in reversed(range(NEW_ADDRESS_TRIES)):
            uploads = self._api.post("outputs/presign/", request)["uploads"]
            try:
                for upload in uploads:
                    if upload.get("url"):
                        self._put(upload, by_path[upload["path"]])
                break
            except StorageRefusedError:
                if not left:
                    raise
        self._api.post("outputs/complete/", {"ids": [upload["id"] for upload in uploads]})
        self._note_sent(group)

    def _note_sent(self, group: list[OutputFile]) -> None:
        for file in group:
            self._sent[file.path] = file.stamp
            self._sent_at_s[file.path] = time.monotonic()
            self.failed.pop(file.path, None)
        # Without it, a runner that follows this one sends them again.
        with suppressing_refusals():
            write_json(self._state_path, self._sent)

    def _put(self, upload: dict[str, Any], file: OutputFile) -> None:
        for tries in range(PUT_TRIES):
            with self._open(file) as content:
                try:
                    blocks = _Blocks(content, lambda: self._give_way(file))
                    status = put_once(upload["url"], blocks, file.size_bytes)
                except (OSError, http.client.HTTPException):
                    status = 503
            if status < 300:
                return
            if status < 500:
                break
            self._give_way(file)
            self._api.abandoned.wait(backoff_s(tries))
        raise StorageRefusedError(f"The storage answered {status} to {file.path}.")

    def _sha256(self, file: OutputFile) -> str:
        state = hashlib.sha256()
        with self._open(file) as content:
            for chunk in iter(lambda: content.read(CHUNK_BYTES), b""):
                self._give_way(file)
                state.update(chunk)
            self._check_unchanged(content, file)
        return state.hexdigest()

    def _open(self, file: OutputFile) -> BinaryIO:
        """Open a file that has not changed since the scan. Raises ChangedError."""
        try:
            # Never through a link: it could have been planted after the scan.
            descriptor = os.open(str(self._folder / file.path), os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise ChangedError(file.path) from error
            raise OSError(f"{file.path}: {error.strerror}") from error
        content = os.fdopen(descriptor, "rb")
        try:
            self._check_unchanged(content, file)
        except ChangedError:
            content.close()
            raise
        return content

    def _check_unchanged(self, content: BinaryIO, file: OutputFile) -> None:
        status = os.fstat(content.fileno())
        if (status.st_size, status.st_mtime_ns) != (file.size_bytes, file.mtime_ns):
            raise ChangedError(file.path)


class _Blocks:
    """A file for `http.client` whose reading may be given up between two blocks."""

    def __init__(self, content: BinaryIO, may_go_on: Callable[[], None]) -> None:
        self._content, self._may_go_on = content, may_go_on

    def read(self, size: int = -1, /) -> bytes:
        self._may_go_on()
        return self._content.read(size)


def _describe(file: OutputFile, sha256: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "path": file.path,
        "size_bytes": file.size_bytes,
        "sha256": sha256,
        "kind": file.kind,
    }
    return described if file.step is None else {**described, "step": file.step}


def _load(path: Any) -> dict[str, str]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return {}
