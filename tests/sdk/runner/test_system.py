"""The system sampler, in a process whose only child is the command."""

from __future__ import annotations

import json
import subprocess
import sys

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
