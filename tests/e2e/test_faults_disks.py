"""Services and the folders of runs on disks that become slow, silent and read-only."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from tests.cache.slow_disk import SlowDisk, slow_disk
from tests.e2e import breaking
from tests.e2e.test_faults_services import COUNTING, expect_everything
from tests.people import administrator, client_of
from tests.sdk.mount.conftest import why_not
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.deep,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(300),
    pytest.mark.skipif(why_not("fuse") is not None, reason=str(why_not("fuse"))),
]
SLOW_S = 1.0
# For each 128 KiB that the store writes.
SLOW_STORE_S = 0.05
# More than the three seconds that a probe waits.
TOO_SLOW_S = 4.0
FAILED_ON_IT = """
import time
from atom_sdk import run
for n in range(10_000):
    print(f"line {n}", flush=True)
    run.log({"n": n}, step=n)
    time.sleep(0.02)
"""


@dataclass
class Shaky:
    """A stack with a client, whose disks can be made worse."""

    stack: Stack
    client: Client
    database: SlowDisk
    attempts: SlowDisk
    store: SlowDisk
    valkey: SlowDisk

    def ask(self, path: str) -> httpx.Response:
        """Ask once, with the token of an administrator."""
        headers = {"Authorization": f"Bearer {self.client.config.token}"}
        address = self.stack.base_url + path
        return httpx.get(address, headers=headers, timeout=60, trust_env=False)

    def fault_codes(self) -> set[str]:
        """The codes of the faults that are shown to everybody."""
        return {fault["code"] for fault in self.ask("/api/v1/state/").json()["faults"]}

    def await_faults(self, *codes: str) -> None:
        """Wait until one of the codes is told; without any, until nothing is."""
        wanted = set(codes)
        breaking.wait_for(
            lambda: bool(self.fault_codes() & wanted) if codes else not self.fault_codes(),
            f"{codes} is told",
        )


@pytest.fixture(scope="module")
def shaky() -> Iterator[Shaky]:
    stack = Stack.create()
    disks = stack.home / "disks"
    try:
        with (
            slow_disk(disks / "postgres", stack.home / "postgres", 0.0) as database,
            slow_disk(disks / "attempts", stack.home / "attempts", 0.0) as attempts,
            slow_disk(disks / "s3", stack.home / "s3", 0.0) as store,
            slow_disk(disks / "valkey", stack.home / "valkey", 0.0) as valkey,
        ):
            stack.start()
            with client_of(stack, administrator(stack)) as client:
                ready = breaking.start_script(client, "build the environment", "print('ready')")
                breaking.await_end(client, ready)
                yield Shaky(stack, client, database, attempts, store, valkey)
            stack.stop()
    finally:
        stack.remove()


def test_a_slow_database_disk_makes_requests_slow_and_loses_none(shaky: Shaky) -> None:
    tag = uuid.uuid4().hex
    with shaky.database.slower(SLOW_S):
        started = time.monotonic()
        made = [make_run(shaky.client, tag) for _ in range(2)]
        assert time.monotonic() - started > SLOW_S
    with shaky.database.slower(TOO_SLOW_S):
        shaky.await_faults("database_slow")
    shaky.await_faults()
    assert {row["id"] for row in shaky.client.runs.list(tag=tag)} == set(made)
    for run in made:
        assert breaking.await_end(shaky.client, run)["state"] == "succeeded"


def test_a_silent_database_disk_holds_what_is_asked_and_loses_nothing(shaky: Shaky) -> None:
    tag, answers = uuid.uuid4().hex, list[str]()
    key = uuid.uuid4().hex
    asking = threading.Thread(target=lambda: answers.append(make_run(shaky.client, tag, key)))
    with shaky.database.silent():
        asking.start()
        shaky.await_faults("database_slow", "database_away")
        assert not answers
    asking.join(breaking.PATIENCE_S)
    shaky.await_faults()
    assert [row["id"] for row in shaky.client.runs.list(tag=tag)] == answers


def test_a_database_whose_disk_turns_read_only_loses_nothing_acknowledged(shaky: Shaky) -> None:
    tag = uuid.uuid4().hex
    made = [make_run(shaky.client, tag) for _ in range(3)]
    counting = breaking.start_script(shaky.client, "counting", COUNTING)
    breaking.await_line(shaky.client, counting, "line 20")
    with shaky.database.refusing():
        # It ends itself rather than to acknowledge what is not stored, as it does when it is full.
        shaky.await_faults("database_full", "database_away")
        answer = shaky.ask("/api/v1/projects/")
        assert (answer.status_code, answer.headers["Retry-After"].isdecimal()) == (503, True)
    breaking.await_all(shaky.stack)
    shaky.await_faults()
    assert {row["id"] for row in shaky.client.runs.list(tag=tag)} == set(made)
    expect_everything(shaky.client, counting)


def test_a_run_on_a_slow_disk_is_whole(shaky: Shaky) -> None:
    with shaky.attempts.slower(0.02):
        run = breaking.start_script(shaky.client, "slow", COUNTING)
        expect_everything(shaky.client, run)


def test_a_run_whose_disk_falls_silent_is_held_and_whole(shaky: Shaky) -> None:
    run = breaking.start_script(shaky.client, "silent", COUNTING)
    breaking.await_line(shaky.client, run, "line 20")
    with shaky.attempts.silent():
        time.sleep(5)
    expect_everything(shaky.client, run)


def test_a_run_whose_disk_turns_read_only_fails_in_words_and_goes_on_later(shaky: Shaky) -> None:
    run = breaking.start_script(shaky.client, "read-only", FAILED_ON_IT, max_retries=0)
    breaking.await_line(shaky.client, run, "line 20")
    with shaky.attempts.refusing():
        failed = breaking.await_end(shaky.client, run)
        waiting = breaking.start_script(shaky.client, "waiting", COUNTING, max_retries=0)
        time.sleep(3)
        assert shaky.client.runs.get(waiting)["state"] == "submitted"
        shaky.await_faults("disk_read_only")
    assert (failed["state"], failed["failure_class"]) == ("failed", "NODE_DISK")
    assert "disk of the machine was read-only when the job ended" in failed["failure_reason"]
    assert "mounted for writing" in failed["suggestion"]
    [attempt] = breaking.attempts_of(shaky.client, run)
    assert attempt["log_complete"]
    seen = breaking.numbers_in(breaking.log_of(shaky.client, run))
    assert seen == list(range(len(seen)))
    assert breaking.steps_of(shaky.client, run, "n") in (seen, seen[:-1])
    expect_everything(shaky.client, waiting)


def test_a_push_to_a_store_on_a_slow_and_silent_disk_is_whole(shaky: Shaky, tmp_path: Path) -> None:
    with shaky.store.slower(SLOW_STORE_S):
        assert push_and_compare(shaky.client, tmp_path / "slow", "slow", seed=1)
    same = list[bool]()
    given = (shaky.client, tmp_path / "silent", "slow", 2)
    pushing = threading.Thread(target=lambda: same.append(push_and_compare(*given)))
    with shaky.store.silent():
        pushing.start()
        pushing.join(5)
        assert pushing.is_alive()
    pushing.join(breaking.PATIENCE_S)
    assert same == [True]
    assert len(list(shaky.client.datasets.log("slow"))) == 2


def test_a_store_whose_disk_turned_read_only_works_again_by_itself(
    shaky: Shaky, tmp_path: Path
) -> None:
    with shaky.store.refusing():
        with pytest.raises(ApiError, match=r"InternalError|500 Internal"):
            push_and_compare(shaky.client, tmp_path / "refused", "refused", seed=3)
        shaky.await_faults("object_store_failing")
    counting = breaking.start_script(shaky.client, "counting", COUNTING)
    breaking.wait_for(
        lambda: push_and_compare(shaky.client, tmp_path / uuid.uuid4().hex, "refused", seed=3),
        "a push is taken",
    )
    assert len(list(shaky.client.datasets.log("refused"))) == 1
    expect_everything(shaky.client, counting)


def test_a_slow_and_silent_disk_of_valkey_holds_what_is_asked_and_loses_nothing(
    shaky: Shaky,
) -> None:
    tag, answers = uuid.uuid4().hex, list[str]()
    key = uuid.uuid4().hex
    with shaky.valkey.slower(0.1):
        made = [make_run(shaky.client, tag) for _ in range(2)]
    asking = threading.Thread(target=lambda: answers.append(make_run(shaky.client, tag, key)))
    with shaky.valkey.silent():
        asking.start()
        shaky.await_faults("valkey_away")
    asking.join(breaking.PATIENCE_S)
    assert {row["id"] for row in shaky.client.runs.list(tag=tag)} == {*made, *answers}
    for run in (*made, *answers):
        assert breaking.await_end(shaky.client, run)["state"] == "succeeded"


def test_a_valkey_whose_disk_turns_read_only_loses_no_line(shaky: Shaky) -> None:
    counting = breaking.start_script(shaky.client, "counting", COUNTING)
    breaking.await_line(shaky.client, counting, "line 20")
    with shaky.valkey.refusing():
        shaky.await_faults("valkey_away", "valkey_cannot_save")
    breaking.await_all(shaky.stack)
    expect_everything(shaky.client, counting)


def push_and_compare(client: Client, folder: Path, name: str, seed: int) -> bool:
    """Push files to a dataset; return whether what is pulled is the same."""
    breaking.write_files(folder / "in", 10, 40_000, seed)
    client.datasets.push(folder / "in", name)
    client.datasets.pull(name, folder / "out")
    return breaking.content_of(folder / "out") == breaking.content_of(folder / "in")


def make_run(client: Client, tag: str, key: str | None = None) -> str:
    """Create a run, asking again under the same key until there is an answer."""
    body = {"name": tag, "tags": [tag], "command": ["python", "-c", "print('line 0')"]}
    same = key or uuid.uuid4().hex
    path = f"projects/{client.project}/runs/"
    made = breaking.wait_for(lambda: client.http.post(path, body, key=same), "it is created")
    return str(made["id"])
