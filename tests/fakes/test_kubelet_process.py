"""The stand-in with a kubelet as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from .kubelet.waiting import wait_for

Json = dict[str, Any]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_command_runs_pods_and_ends_them_with_itself(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.fakes.kubernetes", "--kubelet", "--nodes", "2"]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            while not lines or "token:" not in lines[-1]:
                line = process.stdout.readline()
                assert line, "The stand-in ended."
                lines.append(line)
            config = yaml.safe_load("".join(lines))
            token = config["users"][0]["user"]["token"]
            _run_a_pod(config["clusters"][0]["cluster"]["server"], token)
        finally:
            # After SIGKILL only the end of its pipes tells the containers.
            process.send_signal(number)
    wait_for(lambda: not _is_running(b"sleep\x0047115\x00"))
    if number == signal.SIGTERM:
        assert not list(tmp_path.iterdir())


def _run_a_pod(url: str, token: str) -> None:
    container = {"name": "main", "image": "x:1", "command": ["sh", "-c", "echo up; sleep 47115"]}
    spec = {"automountServiceAccountToken": False, "containers": [container]}
    pods = "/api/v1/namespaces/default/pods"
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=20) as client:
        body = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}

        # The namespace gets its account a moment after the server serves.
        wait_for(lambda: client.post(pods, json=body).status_code == 201)
        wait_for(lambda: client.get(f"{pods}/p").json()["status"].get("phase") == "Running")
        wait_for(lambda: client.get(f"{pods}/p/log").text == "up\n")
        wait_for(lambda: _is_running(b"sleep\x0047115\x00"))


def _is_running(line: bytes) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            if (entry / "cmdline").read_bytes() == line:
                return True
        except OSError:
            continue
    return False
