"""The equipment of this machine: disk, Python, packages, ways to mount, GPUs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from atom_sdk.doctor.checks import Check, error, ok, warning
from atom_sdk.mount import fuse, kernel, syscalls

OLDEST_PYTHON = (3, 11)
_GIB = 1024**3
LITTLE_BYTES, NONE_BYTES = 5 * _GIB, _GIB // 4
# Module, distribution, and what it is for.
_OPTIONAL = (
    ("torch", "torch", "loaders of PyTorch"),
    ("pyarrow", "pyarrow", "Parquet"),
    ("PIL", "pillow", "pictures"),
    ("fsspec", "fsspec", "atom:// paths"),
    ("mfusepy", "mfusepy", "mounts by FUSE"),
)
_GPU_TIMEOUT_S = 20


def folder(name: str, path: Path, variable: str) -> Iterator[Check]:
    """Say whether a folder can be written to, and how much room its disk has."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"written")
            probe.flush()
        free_bytes = shutil.disk_usage(path).free
    except OSError as problem:
        action = f"Give this user the right to write there, or set {variable} to another folder."
        yield error(name, f"{path} cannot be written to: {problem.strerror}.", action)
        return
    detail = f"{path} can be written to; {free_bytes / _GIB:.1f} GiB are free."
    action = f"Make room on this disk, or set {variable} to a folder of a larger one."
    if free_bytes < NONE_BYTES:
        yield error(name, detail, action)
    elif free_bytes < LITTLE_BYTES:
        yield warning(name, detail, action)
    else:
        yield ok(name, detail)


def python() -> Iterator[Check]:
    """Say which Python this is."""
    shown = f"Python {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})."
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield error("python", shown, "Install Python 3.11 or newer, and atom-sdk into it.")
    else:
        yield ok("python", shown)


def packages() -> Iterator[Check]:
    """Name the optional packages that are there, and what those that are not would be for."""
    present, absent = [], []
    for module, distribution, purpose in _OPTIONAL:
        if importlib.util.find_spec(module) is None:
            absent.append(f"{distribution} ({purpose})")
        else:
            present.append(f"{distribution} {_version(distribution)}".rstrip())
    detail = f"Installed: {', '.join(present) or 'none'}."
    yield ok("packages", f"{detail} Missing: {', '.join(absent)}." if absent else detail)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def mounts() -> Iterator[Check]:
    """Say by which ways versions can be mounted as folders here."""
    refused = {"the kernel (EROFS)": _kernel_refuses(), "FUSE": _fuse_refuses()}
    ways = [way for way, why in refused.items() if not why]
    reasons = "; ".join(f"not by {way}: {why}" for way, why in refused.items() if why)
    if ways:
        because = f" ({reasons})" if reasons else ""
        yield ok("mounts", f"Versions are mounted by {' or '.join(ways)}{because}.")
        return
    yield warning(
        "mounts",
        f"Versions become folders of hard links only ({reasons}).",
        "For mounts, run as root on Linux 6.12 or newer, or install fuse3 and atom-sdk[fuse].",
    )


def _kernel_refuses() -> str:
    try:
        syscalls.check_allowed(kernel.KIND)
    except OSError as problem:
        return str(kernel.unavailable(problem)).rstrip(".")
    return ""


def _fuse_refuses() -> str:
    if importlib.util.find_spec("mfusepy") is None:
        return "the package mfusepy is missing"
    if not fuse.DEVICE.exists():
        return f"there is no {fuse.DEVICE}"
    if not os.access(fuse.DEVICE, os.R_OK | os.W_OK):
        return f"this user may not open {fuse.DEVICE}"
    if os.geteuid() != 0 and not (shutil.which("fusermount3") or shutil.which("fusermount")):
        return "fusermount3 is missing"
    return ""


def gpus() -> Iterator[Check]:
    """Name the GPUs that nvidia-smi sees."""
    program = shutil.which("nvidia-smi")
    has_driver = Path("/proc/driver/nvidia/version").exists()
    if program is None and not has_driver:
        yield ok("gpus", "None: no NVIDIA driver is loaded.")
        return
    if program is None:
        action = "Install the driver's tools (nvidia-utils), or put nvidia-smi on PATH."
        yield warning("gpus", "A driver is loaded and nvidia-smi is missing.", action)
        return
    try:
        done = subprocess.run(
            [program, "-L"], capture_output=True, text=True, timeout=_GPU_TIMEOUT_S, check=False
        )
        said, failed = (done.stdout + done.stderr).strip(), done.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as problem:
        said, failed = str(problem), True
    names = [line.partition(" (UUID")[0] for line in said.splitlines() if line.startswith("GPU")]
    if failed or not names:
        action = "Load the driver (modprobe nvidia), or see dmesg for what it says."
        yield warning("gpus", f"nvidia-smi finds no GPU: {said[:200]}", action)
    else:
        yield ok("gpus", "; ".join(names))
