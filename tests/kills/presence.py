"""Lives of commands, told by their sockets: the kernel closes a socket with its process.

A command connects when it begins, says which attempt it is, and reports each line that it has
written. So two commands of one run that live at the same time are seen whatever Atom says.
"""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

# The lines that a command writes after it was told to finish.
LAST_LINES = 10


@dataclass
class Life:
    """One process of a command, from its first statement to its end."""

    run: str
    attempt: str
    socket: socket.socket
    # The line that it has written last.
    line: int = -1
    is_over: bool = False
    _rest: bytes = b""

    def hear(self, data: bytes) -> None:
        """Take what the command has sent."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines:
            self.line = int(lines[-1])

    def tell(self, line_count: int) -> None:
        """Tell the command how many lines it has to write in all; one that is gone needs none."""
        try:
            self.socket.sendall(f"{line_count}\n".encode())
        except OSError:
            return


@dataclass
class Presence:
    """Listens for commands; use it as a context manager. Thread-safe."""

    lives: list[Life] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    # Run to the number of lines that it has to write.
    line_counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="presence", daemon=True)

    @property
    def port(self) -> int:
        """Where commands report."""
        return int(self._listener.getsockname()[1])

    def lives_of(self, run: str) -> list[Life]:
        """Return the processes of a run, the first one first."""
        with self._lock:
            return [life for life in self.lives if life.run == run]

    def alive(self, run: str = "") -> list[Life]:
        """Return the processes that live, of one run or of all."""
        with self._lock:
            return [life for life in self.lives if not life.is_over and run in ("", life.run)]

    def finish(self, run: str) -> int:
        """Let a run end some lines later; return how many lines it writes in all."""
        with self._lock:
            if run not in self.line_counts:
                last = max((life.line for life in self.lives_of(run)), default=-1)
                self.line_counts[run] = last + 1 + LAST_LINES
                for life in self.alive(run):
                    life.tell(self.line_counts[run])
            return self.line_counts[run]

    def __enter__(self) -> Presence:
        """Listen."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        self._stopping.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # sockets are registered alone
        self._selector.close()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            for key, _ in self._selector.select(0.2):
                with self._lock:
                    if key.fileobj is self._listener:
                        self._greet()
                    else:
                        self._read(key.data)

    def _greet(self) -> None:
        """Take a new command on: its first line names its run and its attempt."""
        connection, _ = self._listener.accept()
        connection.settimeout(10)
        try:
            first = connection.makefile("rb", buffering=0).readline()
            run, attempt = json.loads(first)
        except (OSError, ValueError):
            # It was killed while it said so.
            connection.close()
            return
        self._judge(run, attempt)
        life = Life(run, attempt, connection)
        self.lives.append(life)
        if run in self.line_counts:
            life.tell(self.line_counts[run])
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, life)

    def _judge(self, run: str, attempt: str) -> None:
        """Complain about a command that begins while another one lives, or a second time."""
        for life in self.alive(run):
            # Its end may not have been read yet.
            self._read(life)
        if others := [life.attempt for life in self.alive(run)]:
            self.complaints.append(
                f"{time.strftime('%H:%M:%S')} run {run}: attempt {attempt} began while a process "
                f"of {others} lived"
            )
        if any(life.attempt == attempt for life in self.lives_of(run)):
            self.complaints.append(f"run {run}: the command of attempt {attempt} began twice")

    def _read(self, life: Life) -> None:
        while True:
            try:
                data = life.socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                break
            life.hear(data)
        life.is_over = True
        self._selector.unregister(life.socket)
        life.socket.close()
