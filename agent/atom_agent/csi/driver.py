"""The driver's sockets: its own, and the one by which the kubelet finds it."""

from __future__ import annotations

import logging
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from atom_agent.csi.services import DRIVER, DriverServices, RegistrationServices
from atom_agent.csi.volumes import Volumes
from atom_agent.errors import SettingError

_log = logging.getLogger("atom_agent")
_THREADS = 8
_MOST_REQUEST_BYTES = 1 << 20
_STOP_S = 5.0
_SWEEP_S = 30.0
# An address of a socket has 107 characters at most.
_MOST_ADDRESS = 107


class Driver:
    """Serves the kubelet until it is stopped; registers again after the kubelet refused."""

    def __init__(self, volumes: Volumes, node: str, kubelet: Path) -> None:
        """Nothing listens yet."""
        self._volumes = volumes
        self.socket = kubelet / "plugins" / DRIVER / "csi.sock"
        self.registration = kubelet / "plugins_registry" / f"{DRIVER}-reg.sock"
        self._services = DriverServices(volumes, node, kubelet)
        self._registering = RegistrationServices(self.socket, self._note_status)
        self._server: Any = None
        self._registrar: Any = None
        self._changed = volumes.changed
        self._stop = threading.Event()
        self._refused = False
        self._thread = threading.Thread(target=self._watch, name="volumes", daemon=True)

    def start(self) -> None:
        """Listen. Raises SettingError, OSError."""
        # The driver first: the kubelet calls it as soon as it sees the registration.
        self._server = listen(self.socket, self._services.handlers())
        self._registrar = listen(self.registration, self._registering.handlers())
        self._thread.start()

    def stop(self) -> None:
        """Let calls end and remove the sockets; mounts stay, since pods use them."""
        self._stop.set()
        self._changed.set()
        for server in (self._registrar, self._server):
            if server is not None:
                server.stop(_STOP_S).wait(_STOP_S)
        for path in (self.registration, self.socket):
            path.unlink(missing_ok=True)

    def wake(self) -> None:
        """Tell the server of the volumes at once: it may not know this agent's."""
        self._changed.set()

    def _note_status(self, is_registered: bool, error: str) -> None:
        if is_registered:
            _log.info("The kubelet registered the driver %s.", DRIVER)
        else:
            _log.error("The kubelet refused the driver %s: %s", DRIVER, error[:500])
        self._volumes.is_registered = is_registered
        self._refused = not is_registered
        self._changed.set()

    def _watch(self) -> None:
        """Keep the server informed, and the volumes complete."""
        while not self._stop.is_set():
            self._changed.clear()
            try:
                self._volumes.sweep()
                self._volumes.tell()
            except Exception:
                _log.exception("Volumes")
            self._changed.wait(_SWEEP_S)
            if self._refused and not self._stop.wait(_SWEEP_S):
                self._register_again()

    def _register_again(self) -> None:
        """Make the socket anew: the kubelet looks at new ones only."""
        self._refused = False
        self._registrar.stop(0).wait(_STOP_S)
        try:
            self._registrar = listen(self.registration, self._registering.handlers())
        except OSError:
            _log.exception("The registration socket")
            self._refused = True


def listen(path: Path, handlers: list[Any]) -> Any:
    """Serve handlers at a socket for root alone. Raises SettingError, OSError."""
    if len(os.fsencode(path)) > _MOST_ADDRESS:
        raise SettingError("ATOM_AGENT_KUBELET", "is too long for the address of a socket.")
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700, parents=True)
    _remove_stale(path)
    options = [
        ("grpc.max_receive_message_length", _MOST_REQUEST_BYTES),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.server(ThreadPoolExecutor(_THREADS, path.stem), options=options)
    server.add_generic_rpc_handlers(tuple(handlers))
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError as error:
        raise OSError(f"Nothing can listen at {path}: {error}") from error
    path.chmod(0o600)
    server.start()
    return server


def _remove_stale(path: Path) -> None:
    """Remove the socket of an agent that was killed. Raises SettingError for any other file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SettingError("ATOM_AGENT_KUBELET", f"has a file {path} that is no socket.")
    path.unlink()
