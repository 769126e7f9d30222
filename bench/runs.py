"""The list of a project's runs, over HTTP: pages, searches, sorts and sums of 100,000 runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg

from atom.settings.environment import Environment
from atom_sdk.client import Client
from bench.harness import Result

RUNS = 100_000
ROUNDS = 15
WARM_UP = 2
# Each is the first page of 50, as the portal asks for it.
QUESTIONS: dict[str, Mapping[str, str]] = {
    "newest": {},
    "of a state": {"search": "state:failed"},
    "by a rare tag": {"search": "tag:rare"},
    "by parameter and metric": {"search": "lr>0.09 metric.loss<0.1"},
    "that nothing matches": {"search": "metric.loss<-1 -state:failed"},
    "by words": {"search": '"run 4242"'},
    "by words that nothing has": {"search": "nowhere"},
    "sorted by a metric": {"sort": "metric.loss"},
    "sorted by a parameter": {"sort": "-param.lr"},
    "sorted by CPU hours": {"sort": "-cpu_hours"},
}

# Sizes as trainings have them: a dozen parameters, half as many metrics, some with notes.
_GENERATE = """
INSERT INTO jobs_run (
    id, created_at, updated_at, project_id, number, name, workflow_version, command, parameters,
    env, secrets, cpus, memory_bytes, gpus, state, failure_class, failure_reason, suggestion,
    priority, max_retries, may_write, tags, origin, trace_parent,
    logged_parameters, labels, notes, starred, revision, progress, progress_text,
    metrics_summary, ran_s, image, accelerator, nodes, launcher, has_place, start_when,
    move_image, move_accelerator, created_by_id, started_at, finished_at
)
SELECT gen_random_uuid(), now() - n * interval '1 minute', now(), project.id, %(first)s + n,
    'run ' || n, '', '["python", "train.py"]',
    jsonb_build_object('lr', random() / 10, 'epochs', n %% 90, 'optimizer', (ARRAY['adam', 'sgd'])[
        1 + n %% 2], 'batch', 32, 'width', 256, 'depth', 12, 'dropout', random(), 'seed', n,
        'warmup', 500, 'schedule', 'cosine', 'decay', 0.05, 'image', 224),
    '{}', '[]', 1 + n %% 8, 1 << 30, n %% 2,
    (ARRAY['succeeded', 'succeeded', 'succeeded', 'failed', 'cancelled'])[1 + n %% 5], '', '', '',
    0, 2, false, CASE WHEN n %% 5000 = 0 THEN '["rare"]' ELSE '["baseline"]' END::jsonb, 'atom',
    '', '{}', '{}',
    CASE WHEN n %% 4 = 0 THEN repeat('what we learned from it ', 20) ELSE '' END, false,
    0, 1, '', jsonb_build_object('loss', random(), 'accuracy', random(), 'val/loss', random(),
        'val/accuracy', random(), 'grad', random(), 'time', random()),
    random() * 7200, '', '', 1, 'plain', true, '', '', '', person.id, now(), now()
FROM generate_series(1, %(runs)s) AS n,
    (SELECT id FROM accounts_project WHERE slug = %(project)s) AS project,
    (SELECT id FROM accounts_user WHERE username = 'admin') AS person
"""


def run(home: Path, client: Client) -> list[Result]:
    """Return the median and the slowest of each question, in ms."""
    generate(home, client.project)
    found = []
    for name, asked in QUESTIONS.items():
        path = f"projects/{client.project}/runs/"
        found += _measure(f"page of {RUNS:,} runs, {name}", client, path, {"limit": "50", **asked})
    path = f"projects/{client.project}/runs/sums/"
    return found + _measure(f"sums of {RUNS:,} runs", client, path, {})


def generate(home: Path, project: str, count: int = RUNS) -> None:
    """Fill the project with runs that differ in what they are searched by."""
    environment = Environment(_env_file=home / "run" / "stack.env", atom_home=home)
    address = environment.database_url.get_secret_value()
    with psycopg.connect(address, autocommit=True) as connection:
        first = connection.execute("SELECT coalesce(max(number), 0) FROM jobs_run").fetchone()
        values = {"runs": count, "project": project, "first": first[0] if first else 0}
        connection.execute(_GENERATE, values)
        connection.execute("VACUUM ANALYZE jobs_run")


def _measure(name: str, client: Client, path: str, asked: Mapping[str, str]) -> list[Result]:
    took_ms = []
    for _ in range(WARM_UP + ROUNDS):
        started = time.monotonic()
        client.http.get(path, **asked)
        took_ms.append((time.monotonic() - started) * 1000)
    measured = took_ms[WARM_UP:]
    return [
        Result(f"{name}, median", round(statistics.median(measured), 1), "ms"),
        Result(f"{name}, slowest of {ROUNDS}", round(max(measured), 1), "ms"),
    ]
