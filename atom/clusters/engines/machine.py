"""What this machine offers to jobs."""

from __future__ import annotations

import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

from atom.core.processors import processor_count

_CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")
_NVIDIA_SMI_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class Machine:
    """Resources that jobs may reserve."""

    name: str
    cpu_count: int
    memory_bytes: int
    gpu_model: str
    # Of each GPU, as NVIDIA's tools and CUDA_VISIBLE_DEVICES name it.
    gpu_ids: tuple[str, ...] = ()
    # False where NVIDIA's tool is there and failed: the GPUs may be told another time.
    gpus_told: bool = True


def probe_machine() -> Machine:
    """Return the resources of this machine, within the limits of its control group."""
    told = _gpus()
    gpus = told or []
    return Machine(
        name=socket.gethostname(),
        cpu_count=processor_count(),
        memory_bytes=_memory_bytes(),
        gpu_model=gpus[0][1] if gpus else "",
        gpu_ids=tuple(uuid for uuid, _ in gpus),
        gpus_told=told is not None,
    )


def _memory_bytes() -> int:
    total = int(psutil.virtual_memory().total)
    limit = _read(_CGROUP_MEMORY)
    return min(total, int(limit)) if limit.isdecimal() else total


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _gpus() -> list[tuple[str, str]] | None:
    """Return the id and the model of each GPU that NVML sees; None if it does not answer."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_NVIDIA_SMI_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    pairs = (line.split(",", 1) for line in done.stdout.splitlines() if "," in line)
    return [(uuid.strip(), name.strip()) for uuid, name in pairs]
