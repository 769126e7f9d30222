"""Samples what the command uses: CPU, memory, disk, network, GPU."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from . import processes
from .nvml import Nvml

SAMPLE_EVERY_S = 2.0
# Where NVIDIA's library is not there or fails: its driver may only begin.
_NVML_AGAIN_AFTER_S = 30.0


class SystemSampler:
    """A thread that hands over points `system/…` every two seconds."""

    def __init__(
        self, sink: Callable[[list[list[Any]]], None], disk: Path, gpus: str | None = None
    ) -> None:
        """Sample the processes below this one, the file system of `disk`, and `gpus`.

        These are named as in CUDA_VISIBLE_DEVICES; without a name all are sampled.
        """
        self._sink = sink
        self._disk = disk
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="system", daemon=True)
        self._gpus = gpus
        self._nvml = Nvml.open(gpus)
        self._nvml_asked_s = time.monotonic()
        self._before: dict[str, float] = {}
        self._before_s = 0.0
        self._step_base_s = 0.0

    def start(self) -> None:
        """Begin to sample."""
        pids = processes.descendants(os.getpid())
        self._before, self._before_s = self._counters(pids), time.monotonic()
        self._step_base_s = self._before_s
        self._thread.start()

    def finish(self) -> None:
        """Stop."""
        self._stopping.set()
        self._thread.join(SAMPLE_EVERY_S)

    def sample(self) -> dict[str, float]:
        """Return the present values; rates are over the time since the last sample.

        Nothing once the command has gone: its memory would read as 0 and its rates as a stop.
        """
        pids = processes.descendants(os.getpid())
        memory_bytes = processes.rss_bytes(pids)
        if not memory_bytes:
            return {}
        now_s, after = time.monotonic(), self._counters(pids)
        elapsed_s = max(now_s - self._before_s, 1e-3)
        rates = {
            key: max(0.0, (after[key] - self._before.get(key, 0.0)) / elapsed_s) for key in after
        }
        self._before, self._before_s = after, now_s
        values = {f"system/{key}": rate for key, rate in rates.items() if key != "cpu_s"}
        values["system/cpu_percent"] = 100.0 * rates["cpu_s"]
        values["system/memory_bytes"] = memory_bytes
        values["system/disk_free_bytes"] = shutil.disk_usage(str(self._disk)).free
        if self._nvml is None and now_s - self._nvml_asked_s >= _NVML_AGAIN_AFTER_S:
            self._nvml, self._nvml_asked_s = Nvml.open(self._gpus), now_s
        if self._nvml:
            values.update(self._nvml.sample())
        return values

    def _run(self) -> None:
        while not self._stopping.wait(SAMPLE_EVERY_S):
            values, ts_ms = self.sample(), int(time.time() * 1000)
            step = int(self._before_s - self._step_base_s)
            if values:
                self._sink([[key, step, ts_ms, float(value)] for key, value in values.items()])

    def _counters(self, pids: Iterable[int]) -> dict[str, float]:
        read_bytes, written_bytes = _disk_bytes(pids)
        received_bytes, sent_bytes = _network_bytes()
        return {
            "cpu_s": processes.cpu_seconds(pids),
            "disk_read_bytes_s": read_bytes,
            "disk_write_bytes_s": written_bytes,
            "network_receive_bytes_s": received_bytes,
            "network_send_bytes_s": sent_bytes,
        }


def _disk_bytes(pids: Iterable[int]) -> tuple[float, float]:
    totals = {"read_bytes": 0, "write_bytes": 0}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/io") as file:
                for line in file:
                    key, value = line.split(":")
                    if key in totals:
                        totals[key] += int(value)
        except OSError:
            continue
    return totals["read_bytes"], totals["write_bytes"]


def _network_bytes() -> tuple[float, float]:
    """Return (received, sent) of this network namespace, without loopback."""
    received = sent = 0
    try:
        with open("/proc/net/dev") as file:
            for line in file.readlines()[2:]:
                name, numbers = line.split(":")
                if name.strip() != "lo":
                    fields = numbers.split()
                    received, sent = received + int(fields[0]), sent + int(fields[8])
    except OSError:
        pass
    return received, sent
