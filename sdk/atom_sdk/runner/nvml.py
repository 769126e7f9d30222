"""GPU use from NVIDIA's management library, by ctypes, when the machine has it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

LIBRARY = "libnvidia-ml.so.1"


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Nvml:
    """The machine's GPUs. Every call answers 0 on success; anything else leaves a value out."""

    def __init__(self, library: ctypes.CDLL, visible: str | None = None) -> None:
        """Find the devices of a library that was initialised.

        `visible` is what the job has as CUDA_VISIBLE_DEVICES; without it all are its own.
        """
        self._library = library
        # By their place among the job's GPUs, as its program numbers them.
        self._devices = dict(self._all() if visible is None else self._named(visible.split(",")))

    def _all(self) -> Iterable[tuple[int, ctypes.c_void_p]]:
        count = ctypes.c_uint()
        self._library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        for index in range(count.value):
            device = ctypes.c_void_p()
            if self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) == 0:
                yield index, device

    def _named(self, names: Iterable[str]) -> Iterable[tuple[int, ctypes.c_void_p]]:
        for place, name in enumerate(filter(None, map(str.strip, names))):
            device, found = ctypes.c_void_p(), ctypes.byref
            if name.isdecimal():
                status = self._library.nvmlDeviceGetHandleByIndex_v2(int(name), found(device))
            else:
                status = self._library.nvmlDeviceGetHandleByUUID(name.encode(), found(device))
            if status == 0:
                yield place, device

    @classmethod
    def open(cls, visible: str | None = None) -> Nvml | None:
        """Return the GPUs that are `visible`, None on a machine without them."""
        try:
            library = ctypes.CDLL(LIBRARY)
            return cls(library, visible) if library.nvmlInit_v2() == 0 else None
        except (OSError, AttributeError):
            return None

    def sample(self) -> dict[str, float]:
        """Return use in percent and memory in bytes per GPU."""
        values: dict[str, float] = {}
        for index, device in self._devices.items():
            used = _Utilization()
            if self._library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(used)) == 0:
                values[f"system/gpu{index}_percent"] = used.gpu
            memory = _Memory()
            if self._library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0:
                values[f"system/gpu{index}_memory_bytes"] = memory.used
        return values
