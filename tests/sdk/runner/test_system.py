"""The system sampler, in a process whose only child is the command."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from atom_sdk.runner import nvml, system

_SAMPLES = """
import json, os, pathlib, signal, subprocess, sys, time
from atom_sdk.runner.system import SystemSampler
sampler = SystemSampler(lambda points: None, pathlib.Path("/"))
code = "import time; print(1, flush=True); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.readline()
while_it_runs = sampler.sample()
child.send_signal(signal.SIGKILL)
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
as_a_zombie = sampler.sample()
child.wait()
print(json.dumps([while_it_runs, as_a_zombie, sampler.sample()]))
"""


def test_a_command_that_has_gone_is_not_measured_as_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SAMPLES], capture_output=True, text=True, check=True, timeout=60
    )
    running, zombie, gone = json.loads(done.stdout)
    assert running["system/memory_bytes"] > 1 << 20
    assert zombie == {}
    assert gone == {}


def nvidia_library(is_up: list[bool]) -> Any:
    """Return NVIDIA's library with one GPU, whose driver answers once `is_up` holds something."""

    def fill(field: str, value: int) -> Any:
        def call(_: Any, place: Any) -> int:
            setattr(place._obj, field, value)
            return 0

        return call

    return SimpleNamespace(
        nvmlInit_v2=lambda: 0 if is_up else 9,
        nvmlDeviceGetCount_v2=lambda count: fill("value", 1)(None, count),
        nvmlDeviceGetHandleByIndex_v2=fill("value", 7),
        nvmlDeviceGetUtilizationRates=fill("gpu", 42),
        nvmlDeviceGetMemoryInfo=fill("used", 1 << 30),
    )


def test_gpus_whose_driver_begins_later_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    is_up: list[bool] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: nvidia_library(is_up))
    sampler = system.SystemSampler(lambda points: None, Path("/"))
    command = subprocess.Popen(["sleep", "60"])
    try:
        is_up.append(True)
        assert "system/gpu0_percent" not in sampler.sample()
        monkeypatch.setattr(system, "_NVML_AGAIN_AFTER_S", 0.0)
        assert sampler.sample()["system/gpu0_percent"] == 42
    finally:
        command.kill()
        command.wait()


CARDS = {"GPU-a": 10, "GPU-b": 20, "GPU-c": 30, "MIG-d": 40}


def library_of(lost: str) -> Any:
    """Return NVIDIA's library with three cards and a part of one; `lost` does not answer."""
    names = list(CARDS)

    def handle(name: str, device: Any) -> int:
        if name not in CARDS or name == lost:
            return 2
        device._obj.value = CARDS[name]
        return 0

    def memory(device: Any, info: Any) -> int:
        info._obj.used = device.value
        return 0

    def count(number: Any) -> int:
        number._obj.value = 3
        return 0

    return SimpleNamespace(
        nvmlDeviceGetCount_v2=count,
        nvmlDeviceGetHandleByIndex_v2=lambda index, device: handle(names[index], device),
        nvmlDeviceGetHandleByUUID=lambda uuid, device: handle(uuid.decode(), device),
        # Not supported for a part of a card.
        nvmlDeviceGetUtilizationRates=lambda device, used: 3,
        nvmlDeviceGetMemoryInfo=memory,
    )


@pytest.mark.parametrize(
    ("visible", "lost", "used"),
    [
        (None, "", {0: 10, 1: 20, 2: 30}),
        (None, "GPU-b", {0: 10, 2: 30}),
        ("GPU-c,GPU-a", "", {0: 30, 1: 10}),
        ("GPU-a, GPU-c", "", {0: 10, 1: 30}),
        ("2,0", "", {0: 30, 1: 10}),
        ("GPU-b,GPU-c", "GPU-b", {1: 30}),
        ("MIG-d", "", {0: 40}),
        ("", "", {}),
    ],
)
def test_memory_is_that_of_the_card_at_its_place_in_the_job(
    visible: str | None, lost: str, used: dict[int, int]
) -> None:
    sampled = nvml.Nvml(library_of(lost), visible).sample()
    assert sampled == {f"system/gpu{place}_memory_bytes": size for place, size in used.items()}
