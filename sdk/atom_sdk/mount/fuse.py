"""The FUSE way: the slowest, for folders that nothing better reaches."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from atom_sdk.mount.errors import MountUnavailableError
from atom_sdk.mount.mountinfo import mounted_at
from atom_sdk.mount.plan import MountPlan

DEVICE = Path("/dev/fuse")
SOURCE = "atom"
_START_TIMEOUT_S = 60.0
_POLL_S = 0.02


def mount_fuse(plan: MountPlan) -> str:
    """Start a process that serves the folder; returns the mount's source.

    Raises MountUnavailableError.
    """
    _check_machine()
    log = plan.image.with_suffix(".log")
    command = [sys.executable, "-m", "atom_sdk.mount.fuse_server"]
    dataset = plan.dataset
    arguments = [dataset.index.path, dataset.pack_dir, plan.folder, plan.modified_at_s, plan.cache]
    links = ["--unsafe-links"] if plan.view.unsafe_links else []
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*command, *map(str, arguments), *links],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd="/",
            start_new_session=True,
        )
    _wait(server, plan.folder, log)
    # It goes on without us; Python would warn that nobody waited for it.
    server.returncode = 0
    return SOURCE


def unmount_as_user(folder: Path) -> bool:
    """Let the set-user-id helper of FUSE detach a folder; returns whether it could."""
    program = shutil.which("fusermount3") or shutil.which("fusermount")
    if program is None:
        return False
    done = subprocess.run([program, "-u", str(folder)], capture_output=True, check=False)
    return done.returncode == 0


def _check_machine() -> None:
    if importlib.util.find_spec("mfusepy") is None:
        raise MountUnavailableError("the package mfusepy is missing: pip install 'atom-sdk[fuse]'")
    if not DEVICE.exists():
        raise MountUnavailableError(f"this machine has no {DEVICE}")
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise MountUnavailableError(f"this user may not open {DEVICE}")


def _wait(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while mounted_at(folder) != SOURCE:
        if server.poll() is not None:
            raise MountUnavailableError(f"the FUSE server ended at once: {_last_line(log)}")
        if time.monotonic() > deadline:
            server.kill()
            server.wait()
            raise MountUnavailableError("the FUSE server did not mount the folder in a minute")
        time.sleep(_POLL_S)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else "it said nothing"
