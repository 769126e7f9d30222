"""Log lines from a job to storage and to an open WebSocket."""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import connect

from atom_sdk.client import Client
from bench.harness import Result

LINES = 1_000_000
LIVE_LINES = 2_000
LIVE_RATE = 200
ROUNDS = 3

_FLOOD = f"""
import sys
line = "epoch 1/10 step %07d loss 0.123456 accuracy 0.987654 images/s 12345.6\\n"
for start in range(0, {LINES}, 1000):
    sys.stdout.write("".join(line % n for n in range(start, start + 1000)))
"""
_TICKS = f"""
import time
for n in range({LIVE_LINES}):
    print("tick", n, time.time_ns(), flush=True)
    time.sleep(1 / {LIVE_RATE})
"""


def run(scratch: Path, client: Client, password: str) -> list[Result]:
    """Return stored lines per second, and the delay to a viewer's WebSocket."""
    code = scratch / "code"
    code.mkdir()
    (code / "flood.py").write_text(_FLOOD)
    (code / "ticks.py").write_text(_TICKS)
    rates = [_flood(client, code) for _ in range(ROUNDS)]
    delays_ms = sorted(_watch(client, code, password))
    p95 = delays_ms[int(0.95 * len(delays_ms))]
    return [
        Result("log lines, job to stored", round(statistics.median(rates)), "lines/s"),
        Result("log line to an open WebSocket, median", statistics.median(delays_ms), "ms"),
        Result("log line to an open WebSocket, p95", p95, "ms"),
    ]


def start_run(client: Client, code: Path, script: str) -> dict[str, Any]:
    """Start `script` of the folder as a run, with this Python."""
    from atom_sdk.client.code.snapshot import send_snapshot, take_snapshot

    snapshot = send_snapshot(client.http, client.project, take_snapshot(code))
    command = [Path(sys.executable).name, script]
    return client.runs.create(command=command, code_snapshot=snapshot, name=script)


def _flood(client: Client, code: Path) -> float:
    """Lines per second from the first line to the moment at which all of them are stored."""
    run = start_run(client, code, "flood.py")
    while client.runs.get(run["id"])["state"] not in {"running", "finalizing", "succeeded"}:
        time.sleep(0.02)
    started = time.monotonic()
    while True:
        page = client.http.get(f"runs/{run['id']}/logs/", limit_bytes=1)
        stream = page["streams"][0] if page["streams"] else {"lines": 0, "eof": False}
        if stream["lines"] >= LINES:
            return LINES / (time.monotonic() - started)
        time.sleep(0.05)


def _watch(client: Client, code: Path, password: str) -> list[float]:
    """Milliseconds from `print` to the WebSocket's message, one per line."""
    cookie = sign_in(client.config.url, password)
    run = start_run(client, code, "ticks.py")
    delays_ms: list[float] = []
    address = client.config.url.replace("http", "ws", 1) + f"/ws/runs/{run['id']}/?log_from=0"
    headers = {"Cookie": cookie, "Origin": client.config.url}
    with connect(address, additional_headers=headers, open_timeout=20) as socket:
        guard = threading.Timer(LIVE_LINES / LIVE_RATE + 90, socket.close)
        guard.start()
        while len(delays_ms) < LIVE_LINES:
            message = json.loads(socket.recv())
            if message["type"] == "log":
                delays_ms += _delays_ms(message["text"], time.time_ns())
        guard.cancel()
    return delays_ms


def _delays_ms(text: str, now_ns: int) -> list[float]:
    words = (line.split() for line in text.splitlines() if line.startswith("tick "))
    return [(now_ns - int(word[2])) / 1e6 for word in words if len(word) == 3]


def sign_in(url: str, password: str) -> str:
    """Return the cookies of a session, as a header has them."""
    with httpx.Client(base_url=url, timeout=30) as http:
        http.get("/api/v1/auth/session/")
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": url}
        body = {"username": "admin", "password": password}
        http.post("/api/v1/auth/login/", json=body, headers=headers).raise_for_status()
        return "; ".join(f"{name}={value}" for name, value in http.cookies.items())
