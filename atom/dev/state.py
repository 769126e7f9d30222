"""The launcher's lock and its state file: who runs, since when, and how it goes."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from atom.dev.identity import ProcessIdentity
from atom.dev.secret_store import write_private

STARTING, READY, STOPPING = "starting", "ready", "stopping"


class AlreadyRunningError(RuntimeError):
    """Another launcher holds this installation."""

    def __init__(self, home: Path, state: "StackState | None") -> None:
        who = f" (pid {state.launcher.pid}, {state.phase})" if state else ""
        where = f" at {state.url}" if state else ""
        super().__init__(
            f"Atom already runs in {home}{who}{where}. "
            "See it with `make status`, stop it with `make down`."
        )


@dataclass
class ProcessState:
    """The state of one managed process."""

    name: str
    identity: ProcessIdentity | None = None
    phase: str = STARTING
    restarts: int = 0


@dataclass
class StackState:
    """The state of the whole stack."""

    launcher: ProcessIdentity
    url: str
    phase: str = STARTING
    program: str = ""
    processes: dict[str, ProcessState] = field(default_factory=dict)

    def save(self, run_dir: Path) -> None:
        """Write the state file."""
        write_private(run_dir / "launcher.json", json.dumps(asdict(self), indent=2))


def load_state(run_dir: Path) -> StackState | None:
    """Return the last written state, or None."""
    try:
        data = json.loads((run_dir / "launcher.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    processes = {
        name: ProcessState(
            name=name,
            identity=ProcessIdentity(**entry["identity"]) if entry["identity"] else None,
            phase=entry["phase"],
            restarts=entry["restarts"],
        )
        for name, entry in data["processes"].items()
    }
    launcher = ProcessIdentity(**data["launcher"])
    return StackState(launcher, data["url"], data["phase"], data.get("program", ""), processes)


def forget_state(run_dir: Path) -> None:
    """Remove the state file."""
    (run_dir / "launcher.json").unlink(missing_ok=True)


def acquire_lock(home: Path, run_dir: Path) -> IO[str]:
    """Return the open lock file; the kernel frees the lock when this process ends.

    Raises AlreadyRunningError when another launcher holds it.
    """
    lock = (run_dir / "launcher.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise AlreadyRunningError(home, load_state(run_dir)) from error
    return lock


def is_locked(run_dir: Path) -> bool:
    """Whether a launcher holds the lock, even if it has not written its state yet."""
    try:
        with (run_dir / "launcher.lock").open("r", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def own_identity() -> ProcessIdentity:
    """Return the identity of this process."""
    identity = ProcessIdentity.of(os.getpid())
    if identity is None:
        raise RuntimeError("/proc is needed to tell processes apart")
    return identity
