"""Sends output files: presign, PUT, complete."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import threading
import time
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from .api import Api, ApiError, UnreachableError, backoff_s, connect
from .config import AttemptPaths, write_json
from .disk import suppressing_refusals
from .outputs import OutputFile, OutputScan

SCAN_EVERY_S = 5.0
CHUNK_BYTES = 1024 * 1024
PUT_TRIES = 6
NEW_ADDRESS_TRIES = 3


class ChangedError(Exception):
    """The file changed or went away while it was sent; the next scan takes it again."""


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
        self._thread = threading.Thread(target=self._run, name="outputs", daemon=True)
        self.failed: dict[str, str] = {}

    def start(self) -> None:
        """Begin to scan."""
        self._thread.start()

    def sync_soon(self) -> None:
        """Scan now: the command is to stop."""
        self._soon.set()

    def hurry(self) -> None:
        """Send checkpoints first from now on, the newest before all: time is short."""
        self._scan.checkpoints_first = True

    @property
    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def finish(self, wait_s: float) -> bool:
        """Send everything that is left; return whether all of it arrived."""
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
                self._send_groups(self._scan.ready(self._sent, self._sent_at_s))
            for _ in range(3):  # a process that outlived the command may still write
                groups = self._scan.all_left(self._sent)
                if not groups:
                    break
                self._send_groups(groups)
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

    def _send_groups(self, groups: list[list[OutputFile]]) -> None:
        for group in groups:
            try:
                self._send(group)
            except ChangedError:
                continue
            except (ApiError, StorageRefusedError, OSError) as error:
                self.failed.update((file.path, str(error)) for file in group)

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
                    status = _put_once(upload["url"], content, file.size_bytes)
                except (OSError, http.client.HTTPException):
                    status = 503
            if status < 300:
                return
            if status < 500:
                break
            self._api.abandoned.wait(backoff_s(tries))
        raise StorageRefusedError(f"The storage answered {status} to {file.path}.")

    def _sha256(self, file: OutputFile) -> str:
        state = hashlib.sha256()
        with self._open(file) as content:
            for chunk in iter(lambda: content.read(CHUNK_BYTES), b""):
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


def _put_once(url: str, content: BinaryIO, size_bytes: int) -> int:
    parts = urlsplit(url)
    connection = connect(parts.scheme, parts.netloc)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("PUT", target, content, {"Content-Length": str(size_bytes)})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


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
