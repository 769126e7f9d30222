"""A thousand people watch fifty runs: what each run logs comes to twenty open WebSockets."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from websockets.asyncio.client import ClientConnection, connect

from atom.core.crypto import hash_token
from atom.settings.environment import Environment
from atom_sdk.client import Client
from atom_sdk.runner.frames import Frame, encode
from bench.figures import delays
from bench.harness import Result
from bench.logs import sign_in
from bench.processes import most_memory

RUNS = 50
VIEWERS = 1000
TICKS = 20
EVERY_S = 2.0
# After the last tick; what has not come by then is lost.
PATIENCE_S = 30.0
_OPENED_AT_ONCE = 25
# The prefix of a runner's token. Its module needs Django, so it is repeated here.
_TOKEN_PREFIX = "atomrun_"
_NAME = f"log line to {VIEWERS:,} WebSockets over {RUNS} runs"

# Runs that are under way, with a runner's token, and no process: this program is their runner.
_GENERATE = """
WITH made AS (
    INSERT INTO jobs_run (
        id, created_at, updated_at, project_id, number, name, workflow_version, command,
        parameters, env, secrets, cpus, memory_bytes, gpus, state, failure_class, failure_reason,
        suggestion, priority, max_retries, may_write, tags, origin, trace_parent,
        logged_parameters, labels, notes, starred, revision, progress, progress_text,
        metrics_summary, ran_s, image, accelerator, nodes, launcher, has_place,
        start_when, move_image, move_accelerator, started_at)
    SELECT gen_random_uuid(), now(), now(), project.id, project.most + n, 'viewed ' || n, '', '[]',
        '{}', '{}', '[]', 0, 0, 0, 'running', '', '', '', 0, 0, false, '[]', 'mlflow', '', '{}',
        '{}', '', false, 0, 0, '', '{}', 0, '', '', 1, 'plain', true,
        '', '', '', now()
    FROM generate_series(1, %(runs)s) AS n,
        (SELECT id, (SELECT coalesce(max(number), 0) FROM jobs_run WHERE project_id = p.id) AS most
         FROM accounts_project p WHERE slug = %(project)s) AS project
    RETURNING id, number
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY number) AS place FROM made
), attempts AS (
    INSERT INTO jobs_attempt (
        id, created_at, updated_at, run_id, number, state, placement, failure_class,
        failure_reason, suggestion, evidence, metrics_next_seq, log_complete, started_at)
    SELECT gen_random_uuid(), now(), now(), id, 1, 'running', '{}', '', '', '', '{}', 0, false,
        now()
    FROM numbered
    RETURNING id, run_id
), ranks AS (
    INSERT INTO jobs_rank (
        id, created_at, updated_at, attempt_id, number, identity, token_hash, token_expires_at,
        heartbeat_at, exit_reason, metrics_next_seq)
    SELECT gen_random_uuid(), now(), now(), attempts.id, 0, '{}', (%(hashes)s::text[])[place],
        now() + interval '1 hour', now(), '', 0
    FROM attempts JOIN numbered ON numbered.id = attempts.run_id
    RETURNING attempt_id, token_hash
)
SELECT run_id, token_hash FROM ranks JOIN attempts ON attempts.id = attempt_id
JOIN numbered ON numbered.id = run_id ORDER BY place
"""


@dataclass
class Seen:
    """Messages that the viewers got: delays in ms, and how often each (run, tick) came."""

    delays_ms: list[float] = field(default_factory=list)
    ticks: Counter[tuple[str, int]] = field(default_factory=Counter)

    def take(self, run_id: str, text: str, now_ns: int) -> None:
        """Note the ticks in a piece of a log; a line may come in two pieces, never here."""
        for line in text.splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "tick":
                self.ticks[run_id, int(words[1])] += 1
                self.delays_ms.append((now_ns - int(words[2])) / 1e6)


def lost_and_doubled(seen: Seen, runs: list[str], ticks: int, each: int) -> tuple[int, int]:
    """Return how many deliveries are missing, and how many came once too often."""
    counts = [seen.ticks[run, tick] for run in runs for tick in range(ticks)]
    return (
        sum(max(0, each - count) for count in counts),
        sum(max(0, count - each) for count in counts),
    )


def run(home: Path, client: Client, password: str) -> list[Result]:
    """Return delays from sending a line to its message, what was lost, and the memory."""
    tokens = _runs(home, client.project)
    cookie = sign_in(client.config.url, password)
    results: list[Result] = []
    with most_memory(home, f"{VIEWERS:,} viewers", results):
        seen, opened_s = asyncio.run(_watch(client.config.url, cookie, tokens))
    lost, doubled = lost_and_doubled(seen, list(tokens), TICKS, VIEWERS // RUNS)
    return [
        *(delays(_NAME, seen.delays_ms) if seen.delays_ms else ()),
        Result(f"{_NAME}, lost", lost, "lines"),
        Result(f"{_NAME}, doubled", doubled, "lines"),
        Result(f"{VIEWERS:,} WebSockets, until all are open", round(opened_s, 1), "s"),
        *results,
    ]


def _runs(home: Path, project: str) -> dict[str, str]:
    """Return the tokens of new runs."""
    tokens = [_TOKEN_PREFIX + secrets.token_urlsafe(32) for _ in range(RUNS)]
    by_hash = {hash_token(token): token for token in tokens}
    environment = Environment(_env_file=home / "run" / "stack.env", atom_home=home)
    address = environment.database_url.get_secret_value()
    given = {"runs": RUNS, "project": project, "hashes": list(by_hash)}
    with psycopg.connect(address, autocommit=True) as connection:
        rows = connection.execute(_GENERATE, given).fetchall()
    return {str(run_id): by_hash[digest] for run_id, digest in rows}


async def _watch(url: str, cookie: str, tokens: dict[str, str]) -> tuple[Seen, float]:
    seen, gate = Seen(), asyncio.Semaphore(_OPENED_AT_ONCE)
    started = time.monotonic()
    wanted = [run_id for run_id in tokens for _ in range(VIEWERS // RUNS)]
    sockets = await asyncio.gather(*(_open(url, cookie, one, gate) for one in wanted))
    opened_s = time.monotonic() - started
    pairs = zip(sockets, wanted, strict=True)
    readers = [asyncio.create_task(_read(socket, run_id, seen)) for socket, run_id in pairs]
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        await asyncio.gather(*(_tick(http, *one) for one in enumerate(tokens.items())))
    deadline = time.monotonic() + PATIENCE_S
    while seen.ticks.total() < TICKS * len(wanted) and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    await asyncio.gather(*(socket.close() for socket in sockets))
    return seen, opened_s


async def _open(url: str, cookie: str, run_id: str, gate: asyncio.Semaphore) -> ClientConnection:
    address = url.replace("http", "ws", 1) + f"/ws/runs/{run_id}/?log_from=0"
    headers = {"Cookie": cookie, "Origin": url}
    async with gate:
        return await connect(
            address, additional_headers=headers, open_timeout=60, ping_interval=None
        )


async def _read(socket: ClientConnection, run_id: str, seen: Seen) -> None:
    async for message in socket:
        found = json.loads(message)
        if found["type"] == "log":
            seen.take(run_id, found["text"], time.time_ns())


async def _tick(http: httpx.AsyncClient, place: int, run: tuple[str, str]) -> None:
    """Be the runner of one run: a line and a batch of points every so often."""
    headers = {"Authorization": f"Bearer {run[1]}"}
    await asyncio.sleep(EVERY_S * place / RUNS)
    offset = 0
    for tick in range(TICKS):
        due = time.monotonic() + EVERY_S
        now_ns = time.time_ns()
        line = f"tick {tick} {now_ns}\n".encode()
        answer = await http.post(
            "/api/v1/runner/logs/",
            content=encode([Frame(1, offset, now_ns, 1, line)]),
            headers={**headers, "X-Atom-Offset": str(offset)},
        )
        answer.raise_for_status()
        offset += len(line)
        points = [["loss", tick, now_ns // 1_000_000, 1 / (tick + 1)]]
        body = {"seq": tick, "points": points}
        (await http.post("/api/v1/runner/metrics/", json=body, headers=headers)).raise_for_status()
        await asyncio.sleep(max(0.0, due - time.monotonic()))
