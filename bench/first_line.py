"""Times the way that begins with the request for a run and ends with the first line of its log.

The run is a command on Atom's own machine. Its environment is built and its code is stored. The
WebSocket is opened as soon as the run is known, before its attempt begins, as a page does it.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from atom_sdk.client import Client
from atom_sdk.client.code.snapshot import send_snapshot, take_snapshot
from bench.figures import percentile
from bench.harness import Result, say
from bench.logs import sign_in

ROUNDS = 25
# The first run builds the environment; the second one finds every cache filled.
WARM_UP = 2
NAME = "request for a run to its first log line"
_PATIENCE_S = 300
_ENDED = {"succeeded", "failed", "cancelled"}
_SCRIPT = 'import time\nprint("first", time.time_ns(), flush=True)\n'


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in ms since the request was sent."""

    answered: float
    # The command wrote the line.
    written: float
    # The WebSocket had its message.
    seen: float


def run(scratch: Path, client: Client, password: str, rounds: int = ROUNDS) -> list[Result]:
    """Return the median and p95 of the starts in ms; each run ends before the next one begins."""
    code = scratch / "code"
    code.mkdir()
    (code / "first.py").write_text(_SCRIPT)
    body = {
        "command": [Path(sys.executable).name, "first.py"],
        "code_snapshot": send_snapshot(client.http, client.project, take_snapshot(code)),
        "name": "first line",
    }
    cookie = sign_in(client.config.url, password)
    starts = [_start(client, body, cookie) for _ in range(WARM_UP + rounds)][WARM_UP:]
    for part, previous in (("answered", None), ("written", "answered"), ("seen", "written")):
        took = [getattr(one, part) - (getattr(one, previous) if previous else 0) for one in starts]
        say(f"  until {part}: median {statistics.median(took):,.0f} ms, most {max(took):,.0f} ms")
    seen = [one.seen for one in starts]
    return [
        Result(f"{NAME}, median", round(statistics.median(seen)), "ms"),
        Result(f"{NAME}, p95", round(percentile(seen, 95)), "ms"),
    ]


def _start(client: Client, body: dict[str, Any], cookie: str) -> Start:
    """Ask for one run and wait for its line, then for its end."""
    began_ns = time.time_ns()
    run_id = client.runs.create(**body)["id"]
    answered_ns = time.time_ns()
    address = client.config.url.replace("http", "ws", 1) + f"/ws/runs/{run_id}/?log_from=0"
    headers = {"Cookie": cookie, "Origin": client.config.url}
    with connect(address, additional_headers=headers, open_timeout=20) as socket:
        guard = threading.Timer(_PATIENCE_S, socket.close)
        guard.start()
        try:
            written_ns, seen_ns = when_first_line(socket)
        finally:
            guard.cancel()
    until = time.monotonic() + _PATIENCE_S
    while client.runs.get(run_id)["state"] not in _ENDED:
        if time.monotonic() > until:
            raise TimeoutError("the run did not end")
        time.sleep(0.1)
    return Start(*((one - began_ns) / 1e6 for one in (answered_ns, written_ns, seen_ns)))


def when_first_line(socket: Any) -> tuple[int, int]:
    """Return when the first line was written, as it says itself, and when it came (ns)."""
    text = ""
    while True:
        message = json.loads(socket.recv())
        text += message["text"] if message["type"] == "log" else ""
        if "\n" in text:
            return int(text.split()[1]), time.time_ns()
