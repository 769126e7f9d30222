"""A hundred requests a second, as the portal and CI ask them, whether or not the last is answered.

An open loop: a request is sent when it is due, and its time counts from then, so that a server
that is slow for a second pays for all who came in that second.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx

from atom_sdk.client import Client
from bench.figures import delays
from bench.harness import Result
from bench.points import Mlflow, batch
from bench.processes import most_memory

RATE = 100
LASTS_S = 60
CALLERS = 64
_NAME = f"{RATE} requests/s for {LASTS_S} s"


@dataclass(frozen=True)
class Ask:
    """A request; `share` of a hundred are this one."""

    share: int
    method: str
    path: str
    body: bytes = b""


@dataclass
class Measured:
    """Times in ms of answers, by kind, and how often something else than a success came."""

    reads_ms: list[float] = field(default_factory=list)
    writes_ms: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


def schedule(asks: list[Ask]) -> list[Ask]:
    """Return a hundred requests in which each kind is spread as evenly as it goes."""
    places = [
        ((number + 0.5) / ask.share, order, ask)
        for order, ask in enumerate(asks)
        for number in range(ask.share)
    ]
    return [ask for *_, ask in sorted(places, key=lambda place: place[:2])]


def run(home: Path, client: Client) -> list[Result]:
    """Return the times of reads and writes, the failures, and the memory meanwhile."""
    asks = schedule(_asks(client))
    results: list[Result] = []
    with most_memory(home, _NAME, results):
        found = asyncio.run(_load(client, asks))
    return [
        *delays(f"{_NAME}, all", found.reads_ms + found.writes_ms),
        *delays(f"{_NAME}, reads", found.reads_ms),
        *delays(f"{_NAME}, writes", found.writes_ms),
        Result(f"{_NAME}, failures", found.failures.total(), "requests"),
        *results,
    ]


def _asks(client: Client) -> list[Ask]:
    """Requests of the portal's pages and of CI jobs: four of five are reads."""
    project = f"/api/v1/projects/{client.project}"
    api = Mlflow(client)
    run_id = api.begin()
    api.post("runs/log-batch", batch(run_id, 10, 0))
    one = f"/api/v1/runs/{UUID(run_id)}"
    mlflow = f"/api/mlflow/{client.project}/api/2.0/mlflow/runs"
    tag = json.dumps({"run_id": run_id, "key": "stage", "value": "bench"}).encode()
    shares = [
        Ask(15, "GET", f"{project}/runs/?limit=50"),
        Ask(8, "GET", f"{project}/runs/?limit=50&search=state:failed"),
        Ask(12, "GET", f"{one}/"),
        Ask(10, "GET", f"{one}/metrics/"),
        Ask(10, "GET", f"{one}/metrics/series/?key=m0&points=2000"),
        Ask(10, "GET", f"{project}/datasets/"),
        Ask(7, "GET", "/api/v1/auth/session/"),
        Ask(8, "GET", f"{project}/models/"),
        Ask(12, "POST", f"{mlflow}/log-batch", batch(run_id, 10, 1000, 10)),
        Ask(5, "POST", f"{mlflow}/set-tag", tag),
        Ask(3, "POST", f"{mlflow}/create", b'{"experiment_id": "0", "start_time": 1}'),
    ]
    assert sum(ask.share for ask in shares) == 100
    return shares


async def _load(client: Client, asks: list[Ask]) -> Measured:
    found = Measured()
    async with contextlib.AsyncExitStack() as stack:
        free: asyncio.Queue[httpx.AsyncClient] = asyncio.Queue()
        for _ in range(CALLERS):
            free.put_nowait(await stack.enter_async_context(_caller(client)))
        started = time.monotonic()
        under_way = []
        for number, ask in enumerate(itertools.islice(itertools.cycle(asks), RATE * LASTS_S)):
            due = started + number / RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            under_way.append(asyncio.create_task(_send(free, ask, due, found)))
        await asyncio.gather(*under_way)
    return found


def _caller(client: Client) -> httpx.AsyncClient:
    """Return a caller with a connection of its own.

    One client with all connections looks at each of them for each request: with 64 of them and
    a hundred requests that wait it takes a core, and what is measured is the client.
    """
    return httpx.AsyncClient(
        base_url=client.config.url,
        headers={
            "Authorization": f"Bearer {client.config.token}",
            "Content-Type": "application/json",
        },
        timeout=30,
        limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
        # Nothing is encrypted here, and to read the authorities takes each client 20 ms.
        verify=False,
    )


async def _send(
    free: asyncio.Queue[httpx.AsyncClient], ask: Ask, due: float, found: Measured
) -> None:
    http = await free.get()
    try:
        answer = await http.request(ask.method, ask.path, content=ask.body or None)
        if answer.status_code >= 400:
            found.failures[f"{ask.method} {ask.path}: {answer.status_code}"] += 1
    except httpx.HTTPError as error:
        found.failures[f"{ask.method} {ask.path}: {type(error).__name__}"] += 1
    free.put_nowait(http)
    times = found.reads_ms if ask.method == "GET" else found.writes_ms
    times.append((time.monotonic() - due) * 1000)
