"""Services of the stack are killed at the worst moments; nothing acknowledged is lost or doubled.

Every line and point is checked, so also those that were acknowledged before the kill.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from atom_sdk.client import Client
from atom_sdk.client.transport.http import send_object
from tests.e2e import breaking
from tests.e2e.viewer import LogViewer
from tests.people import administrator, session_of
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(300),
]

_VERIFYING = (
    "SELECT 1 FROM datasets_upload WHERE kind = 'pack' AND state IN ('uploaded', 'verifying')"
)
_BUILDING = "SELECT 1 FROM datasets_commitrequest WHERE state IN ('pending', 'building')"
LINES = 160
# About four seconds: most services are back before the end.
COUNTING = f"""
import time
from atom_sdk import run
for n in range({LINES}):
    print(f"line {{n}}", flush=True)
    run.log({{"n": n}}, step=n)
    time.sleep(0.025)
(run.output_dir() / "result.txt").write_text("counted")
"""


def test_a_killed_web_process_loses_no_line_of_the_log_nor_of_who_looks_at_it(
    whole_stack: Stack, survivor: Client
) -> None:
    run = count(survivor)
    viewer = LogViewer(whole_stack, session_of(whole_stack, administrator(whole_stack)), run)
    viewer.start()
    breaking.wait_for(lambda: viewer.text, "the first line on the page", every_s=breaking.MOMENT_S)
    breaking.kill_and_await_return(whole_stack, "web")
    expect_everything(survivor, run)
    viewer.join(breaking.PATIENCE_S)
    assert viewer.text.splitlines() == [f"line {n}" for n in range(LINES)]
    assert viewer.opened >= 2
    assert not viewer.out_of_order


@pytest.mark.deep
def test_a_run_is_created_once_however_often_it_is_asked_for(
    whole_stack: Stack, survivor: Client
) -> None:
    """The web process dies between requests that create; each is repeated until it is answered."""
    tag = uuid.uuid4().hex
    answers: dict[str, str] = {}
    names = [f"{tag} {number}" for number in range(12)]
    threads = [
        threading.Thread(target=create_runs, args=(survivor, tag, names[first::3], answers))
        for first in range(3)
    ]
    for thread in threads:
        thread.start()
    breaking.wait_for(lambda: answers, "the first answer", every_s=breaking.MOMENT_S)
    breaking.kill_and_await_return(whole_stack, "web")
    for thread in threads:
        thread.join()

    stored = {row["name"]: row["id"] for row in survivor.runs.list(tag=tag)}
    assert len(list(survivor.runs.list(tag=tag))) == len(names)
    assert stored == answers
    for run in stored.values():
        survivor.runs.cancel(run)


@pytest.mark.parametrize("process", ["worker", pytest.param("beat", marks=pytest.mark.deep)])
def test_a_killed_worker_or_clock_is_not_noticed_by_a_run(
    whole_stack: Stack, survivor: Client, process: str
) -> None:
    run = count(survivor)
    breaking.kill_and_await_return(whole_stack, process)
    expect_everything(survivor, run)


@pytest.mark.deep
def test_pictures_are_there_again_after_the_gateway_was_killed(
    whole_stack: Stack, survivor: Client, tmp_path: Path
) -> None:
    dataset = f"pictures-{uuid.uuid4().hex[:8]}"
    breaking.write_files(tmp_path / "files", count=3, size_bytes=200_000, seed=4)
    survivor.datasets.push(tmp_path / "files", dataset)
    addresses = {
        entry["path"]: whole_stack.base_url + entry["media_url"]
        for entry in survivor.datasets.entries(f"{dataset}@v1")
    }
    before = whole_stack.restarts_of("gateway")
    breaking.kill(whole_stack, "gateway")
    away = httpx.get(next(iter(addresses.values())))
    assert (away.status_code, away.headers["Content-Type"]) == (502, "application/problem+json")
    breaking.wait_for(lambda: whole_stack.restarts_of("gateway") > before, "the end")
    breaking.await_all(whole_stack)
    seen = {
        path: send_object(survivor.http, "GET", address).content
        for path, address in addresses.items()
    }
    assert seen == breaking.content_of(tmp_path / "files")


@pytest.mark.deep
def test_a_worker_killed_between_a_labelled_version_and_its_record_publishes_once(
    whole_stack: Stack, survivor: Client, images: Path
) -> None:
    dataset = f"labelled-{uuid.uuid4().hex[:8]}"
    survivor.datasets.push(images, dataset)
    task = label_all(survivor, dataset)
    with whole_stack.connect() as holding:
        # The worker has published the version and waits here to note it.
        holding.execute("LOCK TABLE labeling_workitem IN SHARE MODE")
        survivor.labelx.act(task, "publish")
        breaking.wait_for(lambda: len(versions_of(survivor, dataset)) == 2, "the version")
        assert survivor.labelx.get(task)["state"] == "publishing"
        breaking.kill_with_children(whole_stack, "worker")
    breaking.await_all(whole_stack)
    breaking.wait_for(lambda: survivor.labelx.get(task)["state"] == "published", "it is noted")
    found = survivor.labelx.get(task)
    assert versions_of(survivor, dataset) == ["v2", "v1"]
    assert found["output_version"]["ref"] == "v2"
    assert found["progress"]["published"] == 40
    assert survivor.datasets.stats(f"{dataset}@v2")["labels"] == {"cat": 40}


@pytest.mark.deep
def test_a_run_created_just_before_its_worker_died_has_one_attempt(
    whole_stack: Stack, survivor: Client
) -> None:
    """One of them is being started, the other has only just been acknowledged."""
    started = breaking.start_script(survivor, "being started", "print('line 0')")
    breaking.wait_for(
        lambda: breaking.attempts_of(survivor, started), "an attempt", every_s=breaking.MOMENT_S
    )
    acknowledged = breaking.start_script(survivor, "acknowledged", "print('line 0')")
    breaking.kill_and_await_return(whole_stack, "worker")
    for run in (started, acknowledged):
        assert breaking.await_end(survivor, run)["state"] == "succeeded"
        assert len(breaking.attempts_of(survivor, run)) == 1
        assert breaking.log_of(survivor, run) == ["line 0"]


def test_a_worker_killed_while_it_verifies_and_publishes_leaves_one_version(
    whole_stack: Stack, survivor: Client, tmp_path: Path
) -> None:
    dataset = f"verified-{uuid.uuid4().hex[:8]}"
    folder = tmp_path / "files"
    breaking.write_files(folder, count=200, size_bytes=100_000, seed=1)
    result: list[Any] = []
    push = threading.Thread(target=lambda: result.append(survivor.datasets.push(folder, dataset)))
    push.start()
    breaking.wait_for_row(whole_stack, _VERIFYING, "a pack is being verified")
    breaking.kill_and_await_return(whole_stack, "worker")
    breaking.wait_for_row(whole_stack, _BUILDING, "a commit is being built")
    breaking.kill_and_await_return(whole_stack, "worker")
    push.join(breaking.PATIENCE_S)
    assert result, "the push did not end"
    versions = list(survivor.datasets.log(dataset))
    assert [version["ref"] for version in versions] == ["v1"]
    assert versions[0]["file_count"] == 200
    survivor.datasets.pull(f"{dataset}@v1", tmp_path / "copy")
    assert breaking.content_of(tmp_path / "copy") == breaking.content_of(folder)


@pytest.mark.parametrize(
    "service",
    [
        "postgres",
        pytest.param("valkey", marks=pytest.mark.deep),
        pytest.param("s3", marks=pytest.mark.deep),
    ],
)
def test_a_killed_service_loses_no_acknowledged_line(
    whole_stack: Stack, survivor: Client, service: str
) -> None:
    run = count(survivor)
    seen = breaking.log_of(survivor, run)
    breaking.kill_and_await_return(whole_stack, service)
    expect_everything(survivor, run)
    assert breaking.log_of(survivor, run)[: len(seen)] == seen


@pytest.mark.deep
def test_lines_that_only_valkey_has_survive_it_and_the_runner(
    whole_stack: Stack, survivor: Client
) -> None:
    """Acknowledged and not yet in a chunk: nobody is left who could send them again."""
    script = "import time\nfor n in range(3000): print('line', n, flush=True)\ntime.sleep(600)"
    run = breaking.start_script(survivor, "only in Valkey", script, max_retries=0)
    breaking.await_line(survivor, run, "line 2999")
    attempt = breaking.attempts_of(survivor, run)[0]
    for process in breaking.processes_of(whole_stack, attempt):
        process.kill()
    breaking.kill_and_await_return(whole_stack, "valkey")
    ended = breaking.await_end(survivor, run)
    assert (ended["state"], ended["failure_class"]) == ("failed", "RUNNER_LOST")
    assert breaking.numbers_in(breaking.log_of(survivor, run)) == list(range(3000))


def versions_of(client: Client, dataset: str) -> list[str]:
    """Return the versions, newest first."""
    return [version["ref"] for version in client.datasets.log(dataset)]


def label_all(client: Client, dataset: str) -> str:
    """Label every file of a dataset "cat", without an audit; return the task's id."""
    made = client.labelx.create(
        name=dataset,
        dataset=f"{dataset}@v1",
        labels=[{"id": 1, "name": "cat", "hotkey": "1"}],
        audit_percent=0,
    )
    task = str(client.labelx.act(made["id"], "start")["id"])
    while client.labelx.get(task)["state"] == "active":
        slots = client.labelx.lease(task, 50)
        answers = [
            {
                "slot": slot["id"],
                "lease_no": slot["lease_no"],
                "idempotency_key": uuid.uuid4().hex,
                "label_id": 1,
            }
            for slot in slots
        ]
        assert all(answer["ok"] for answer in client.labelx.submit(task, answers))
    return task


def count(client: Client) -> str:
    """Start a run that counts and wait until the first lines are acknowledged."""
    run = breaking.start_script(client, "counting", COUNTING)
    breaking.await_line(client, run, "line 20")
    return run


def expect_everything(client: Client, run: str) -> None:
    """Every line and point once and in order, the output kept, in one attempt."""
    ended = breaking.await_end(client, run)
    assert (ended["state"], ended["failure_reason"]) == ("succeeded", None)
    attempts = breaking.attempts_of(client, run)
    assert [attempt["log_complete"] for attempt in attempts] == [True]
    assert breaking.log_of(client, run) == [f"line {n}" for n in range(LINES)]
    assert breaking.steps_of(client, run, "n") == list(range(LINES))
    files = {file["path"]: file["state"] for file in client.runs.files(run)}
    assert files == {"result.txt": "persisted"}


def create_runs(client: Client, tag: str, names: list[str], answers: dict[str, str]) -> None:
    """Create a run of each name, asking with the same key until there is an answer."""
    for name in names:
        body = {"name": name, "tags": [tag], "command": ["sleep", "600"]}
        key = uuid.uuid4().hex
        ask = ask_to_create(client, body, key)
        answers[name] = str(breaking.wait_for(ask, f"{name} is created")["id"])


def ask_to_create(client: Client, body: dict[str, Any], key: str) -> Callable[[], dict[str, Any]]:
    """Return the request, to be repeated."""
    path = f"projects/{client.project}/runs/"
    return lambda: dict(client.http.post(path, body, key=key))
