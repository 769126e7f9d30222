"""Points of curves: how many are taken a second, and how soon a long curve is answered."""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import redis

from atom.settings.environment import Environment
from atom_sdk.client import Client
from bench.harness import Result, drop_page_cache, seconds
from bench.logs import start_run

BATCHES = 200
BATCH_POINTS = 1000
CONNECTIONS = 2
KEYS = 10
ROUNDS = 5
SDK_STEPS = 50_000
SDK_ROUNDS = 3
LONG = 1_000_000
ASKED = 15
_DONE = {"succeeded", "failed", "cancelled"}

_LOGS = f"""
import atom_sdk.run
for step in range({SDK_STEPS}):
    values = {{f"m{{key}}": step * 0.1234567 / (key + 1) for key in range({KEYS})}}
    atom_sdk.run.log(values, step=step)
"""


def run(scratch: Path, home: Path, client: Client) -> list[Result]:
    """Return points per second of both paths, and ms until a curve is there."""
    code = scratch / "code"
    code.mkdir()
    (code / "points.py").write_text(_LOGS)
    sent = [_send_rounds(client) for _ in range(ROUNDS)]
    logged = [_log(client, code) for _ in range(SDK_ROUNDS)]
    return [
        Result("points, MLflow's log-batch to stored", round(statistics.median(sent)), "points/s"),
        Result("points, atom_sdk.run.log to stored", round(statistics.median(logged)), "points/s"),
        *_curve(home, client),
    ]


class Mlflow:
    """MLflow's REST calls, as its client makes them, on one connection."""

    def __init__(self, client: Client) -> None:
        parts = urlsplit(client.config.url)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        self._base = f"/api/mlflow/{client.project}/api/2.0/mlflow/"
        self._headers = {
            "Authorization": f"Bearer {client.config.token}",
            "Content-Type": "application/json",
        }

    def post(self, name: str, body: bytes) -> Any:
        """Return the answer. Raises RuntimeError for any but a success."""
        self._connection.request("POST", self._base + name, body, self._headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.status} {data[:200]!r}")
        return json.loads(data)

    def begin(self) -> str:
        """Begin a run; return its id."""
        said = json.dumps({"experiment_id": "0", "start_time": int(time.time() * 1000)})
        return str(self.post("runs/create", said.encode())["run"]["info"]["run_id"])


def batch(run_id: str, keys: int, first: int, points: int = BATCH_POINTS) -> bytes:
    """Return a body of log-batch: `points` points, from place `first` of the run's on."""
    now_ms = int(time.time() * 1000)
    rows = [
        {
            "key": f"m{place % keys}",
            "value": place * 0.1234567,
            "timestamp": now_ms,
            "step": place // keys,
        }
        for place in range(first, first + points)
    ]
    return json.dumps({"run_id": run_id, "metrics": rows, "params": [], "tags": []}).encode()


def _send_rounds(client: Client) -> float:
    """Points per second over a few connections, each with a run of its own."""
    work = []
    for _ in range(CONNECTIONS):
        api = Mlflow(client)
        run_id = api.begin()
        starts = range(0, BATCHES // CONNECTIONS * BATCH_POINTS, BATCH_POINTS)
        work.append((api, [batch(run_id, KEYS, first) for first in starts]))
    failures: list[Exception] = []
    threads = [threading.Thread(target=_send, args=(*one, failures)) for one in work]

    def together() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    took_s = seconds(together)
    if failures:
        raise failures[0]
    return BATCHES * BATCH_POINTS / took_s


def _send(api: Mlflow, bodies: list[bytes], failures: list[Exception]) -> None:
    try:
        for body in bodies:
            api.post("runs/log-batch", body)
    except Exception as error:
        failures.append(error)


def _log(client: Client, code: Path) -> float:
    """Points per second from the first one stored until all of a job's are."""
    made = start_run(client, code, "points.py")
    first, begun_with = 0.0, 0
    while True:
        found = client.http.get(f"runs/{made['id']}/metrics/")
        stored: int = sum(one["n"] for one in found if one["kind"] == "user")
        now = time.monotonic()
        if stored and not first:
            first, begun_with = now, stored
        if stored >= SDK_STEPS * KEYS:
            return (stored - begun_with) / max(1e-3, now - first)
        if not stored and client.runs.get(made["id"])["state"] in _DONE:
            raise RuntimeError("the run ended without points")
        time.sleep(0.05)


def _curve(home: Path, client: Client) -> list[Result]:
    """Ms until the portal's question for a curve of a million points is answered."""
    api = Mlflow(client)
    run_id = api.begin()
    for first in range(0, LONG, BATCH_POINTS):
        api.post("runs/log-batch", batch(run_id, 1, first))
    environment = Environment(_env_file=home / "run" / "stack.env", atom_home=home)
    valkey = redis.Redis.from_url(environment.redis_url.get_secret_value())

    def ask() -> float:
        path = f"runs/{UUID(run_id)}/metrics/series/"
        return seconds(lambda: client.http.get(path, key="m0", points="2000")) * 1000

    cold = []
    for _ in range(ROUNDS):
        for name in valkey.scan_iter("*curve:*"):
            valkey.delete(name)
        drop_page_cache([])
        cold.append(ask())
    cached = [ask() for _ in range(ASKED)]
    name = f"curve of {LONG:,} points"
    return [
        Result(f"{name}, cold, median", round(statistics.median(cold)), "ms"),
        Result(f"{name}, cached, median", round(statistics.median(cached), 1), "ms"),
        Result(f"{name}, cached, slowest of {ASKED}", round(max(cached), 1), "ms"),
    ]
