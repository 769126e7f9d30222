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

from atom_sdk.runner import system

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
