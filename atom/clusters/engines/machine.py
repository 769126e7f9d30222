"""Resources that this machine offers to jobs."""

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
    # The id of each GPU, as NVIDIA's tools and CUDA_VISIBLE_DEVICES name it.
    gpu_ids: tuple[str, ...] = ()
    # Memory of each GPU in bytes, in the order of `gpu_ids`; 0 if the tool does not report it.
    gpu_memory_bytes: tuple[int, ...] = ()
    # False if NVIDIA's tool failed: the GPUs may be reported later.
    gpus_known: bool = True


def probe_machine() -> Machine:
    """Return the resources of this machine, within the limits of its control group."""
    told = _gpus()
    gpus = told or []
    return Machine(
        name=socket.gethostname(),
        cpu_count=processor_count(),
        memory_bytes=_memory_bytes(),
        gpu_model=gpus[0].model if gpus else "",
        gpu_ids=tuple(gpu.uuid for gpu in gpus),
        gpu_memory_bytes=tuple(gpu.memory_bytes for gpu in gpus),
        gpus_known=told is not None,
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


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card, by the UUID that stays the same when cards before it come or go."""

    uuid: str
    model: str
    memory_bytes: int


def _gpus() -> list[Gpu] | None:
    """Return each GPU that NVML sees; None if it does not answer."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = [
        "nvidia-smi",
        "--query-gpu=uuid,name,memory.total",
        "--format=csv,noheader,nounits",
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_NVIDIA_SMI_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_gpus(done.stdout)


def parse_gpus(table: str) -> list[Gpu]:
    """Read lines of `uuid, name, memory in MiB`, in the tool's order.

    Parts of a card (MIG) are no cards. A lost one has an error in place of its UUID: no job could
    use it. The memory of a card that does not report it (`[N/A]`) is 0.
    """
    lines = [[part.strip() for part in line.split(",")] for line in table.splitlines()]
    return [_gpu(*parts) for parts in lines if parts[0].startswith("GPU-") and len(parts) > 1]


def _gpu(uuid: str, *rest: str) -> Gpu:
    # A name may have a comma in it.
    names, memory = (rest[:-1], rest[-1]) if len(rest) > 1 else (rest, "")
    mib = memory.split(" ")[0]
    return Gpu(uuid, ", ".join(names), int(mib) << 20 if mib.isdecimal() else 0)


def disk_bytes(folder: Path) -> tuple[int, int]:
    """Return size and free bytes of the disk below a folder; (0, 0) if it is not there."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return 0, 0
    return usage.total, usage.free
