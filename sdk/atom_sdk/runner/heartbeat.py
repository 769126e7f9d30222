"""Tells the server that the attempt is alive and hears whether it should end."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from .api import Api, ApiError, RevokedError, UnreachableError


class Heartbeat:
    """A thread; read `cancel` and `revoked` at any time."""

    def __init__(self, api: Api, folder: Path, every_s: float, phase: str) -> None:
        """Begin in `phase`; `folder` is the attempt's, without it nothing is worth reporting."""
        self._folder = folder
        self._api = api
        self._every_s = every_s
        self._started_s = time.monotonic()
        self._stopping = threading.Event()
        self._soon = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.phase = phase
        self.pid = os.getpid()
        self.cancel = False
        self.revoked = False

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def enter(self, phase: str) -> None:
        """Change the phase and say so soon."""
        self.phase = phase
        self._soon.set()

    def finish(self) -> None:
        """Stop; a beat that is under way is not waited for."""
        self._stopping.set()
        self._soon.set()

    def ask_now(self, wait_s: float) -> bool:
        """Ask once whether the run is cancelled."""
        try:
            answer = self._api.post("heartbeat/", self._body(), deadline_s=wait_s)
            self.cancel = self.cancel or bool(answer.get("cancel"))
        except (ApiError, UnreachableError):
            pass
        return self.cancel

    def _run(self) -> None:
        while not self._stopping.is_set():
            if self._is_gone():
                self._revoke()
                return
            try:
                answer = self._api.post("heartbeat/", self._body(), deadline_s=self._every_s)
                self.cancel = self.cancel or bool(answer.get("cancel"))
            except RevokedError:
                self._revoke()
                return
            except (ApiError, UnreachableError):
                pass  # the command goes on while the server is away
            self._soon.wait(self._every_s)
            self._soon.clear()

    def _is_gone(self) -> bool:
        try:
            return not self._folder.exists()
        except OSError:
            return False  # a disk that fails says nothing of the folder

    def _revoke(self) -> None:
        self.revoked = True
        self._api.abandon()  # nothing that waits for an answer will get one

    def _body(self) -> dict[str, object]:
        uptime_s = round(time.monotonic() - self._started_s, 3)
        return {"phase": self.phase, "pid": self.pid, "uptime_s": uptime_s}
