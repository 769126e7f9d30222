"""Write jobs: many tasks write, one commit; through the SDK."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from atom.datasets.models import CommitRequest, WriteJob, Writer
from atom_sdk.client import ApiError, Client
from atom_sdk.client.errors import MergeConflictError
from atom_sdk.client.writing import TaskWriter
from tests.datasets.pushing import Pusher
from tests.datasets.writing import command, files_of


def test_a_job_commits_every_task_once_whoever_asks_and_however_often(
    client: Client, pusher: Pusher
) -> None:
    pusher.push({"kept.txt": b"kept"})
    job = client.datasets.write_job("digits", "etl-1", message="Features of today")

    def fail(attempt: TaskWriter) -> None:
        with attempt:
            attempt.write("part-2-of-a-failed-attempt", b"x")
            attempt.flush()
            _ = 1 / 0

    def work(task: int) -> None:
        own = client.datasets.write_job("digits", "etl-1")
        if task == 2:
            with pytest.raises(ZeroDivisionError):
                fail(own.task(task))
        with own.task(task) as attempt:
            attempt.write(f"part-{task}", str(task).encode())
            attempt.write("_metadata", b"the same for all")
        attempt.commit()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    # A speculative attempt that commits later replaces; one that is killed does not count.
    with job.task(1) as speculative:
        speculative.write("part-1", b"speculative")
    hanging = job.task(0)
    hanging.write("part-0", b"killed")
    hanging.flush()
    hanging.close()
    assert (job.row["tasks_committed"], job.row["attempts_open"]) == (3, 4)

    with ThreadPoolExecutor(2) as pool:
        drivers = [client.datasets.write_job("digits", "etl-1") for _ in range(2)]
        versions = list(pool.map(lambda driver: driver.commit(), drivers))
    versions.append(job.commit())
    assert {version["ref"] for version in versions} == {"v2"}
    version = versions[0]
    assert (version["message"], version["provenance"]["write_job"]) == (
        "Features of today",
        "etl-1",
    )
    assert version["provenance"]["tasks"] == 3
    assert files_of(client, "digits@main") == {
        "kept.txt": b"kept",
        "part-0": b"0",
        "part-1": b"speculative",
        "part-2": b"2",
        "_metadata": b"the same for all",
    }
    assert pusher.get("versions/")["results"][0]["ref"] == "v2"
    states = list(Writer.objects.filter(job__name="etl-1").values_list("state", flat=True))
    assert sorted(states) == ["abandoned"] * 3 + ["committed"] * 3
    with pytest.raises(ApiError) as late:
        job.task(9)
    assert late.value.code == "write_job_ended"
    for end in (hanging.commit, job.abort):
        with pytest.raises(ApiError) as ended:
            end()
        assert ended.value.code == "write_job_ended"


def test_an_aborted_job_leaves_no_trace_and_its_name_is_spent(
    client: Client, pusher: Pusher
) -> None:
    job = client.datasets.write_job("digits", "etl")
    with job.task("a") as attempt:
        attempt.write("a.txt", b"a")

    def fail() -> None:
        with job:
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (job.row["state"], attempt.state) == ("aborted", "abandoned")
    assert client.datasets.get("digits")["latest"] is None
    again = client.datasets.write_job("digits", "etl")
    assert again.id == job.id
    again.abort()
    for refused in (again.commit, lambda: again.task(1)):
        with pytest.raises(ApiError) as error:
            refused()
        assert error.value.code == "write_job_ended"


def test_a_job_of_tasks_that_clash_says_so_and_can_be_committed_with_a_side(
    client: Client, pusher: Pusher
) -> None:
    job = client.datasets.write_job("digits", "etl")
    for task in ("a", "b"):
        with job.task(task) as attempt:
            attempt.write("same-path", task.encode())
    with pytest.raises(MergeConflictError):
        job.commit()
    assert (job.row["state"], job.row["error"]["code"]) == ("open", "merge_conflict")
    listed = command(client, "list", "digits")
    assert [row["task"] for row in listed["writers"]] == ["b", "a"]
    done = command(client, "commit", "digits", job.id, "--job", "--theirs", "-m", "By hand")
    assert (done["version"]["ref"], done["version"]["message"]) == ("v1", "By hand")
    assert files_of(client, "digits@v1") == {"same-path": b"b"}
    assert command(client, "list", "digits") == {"writers": [], "write_jobs": []}


def test_requests_of_two_drivers_at_once_are_one(pusher: Pusher, client: Client) -> None:
    with client.datasets.write_job("digits", "etl").task("a") as attempt:
        attempt.write("a.txt", b"a")
    job = WriteJob.objects.get()
    with pytest.raises(ApiError) as refused:
        attempt.abandon()
    assert refused.value.code == "writer_ended", "a task that counts is not taken away in silence"
    start = threading.Barrier(2)

    def ask(_: int) -> str:
        from atom.datasets.operations.engines.operations import WriteArguments
        from atom.datasets.writers.actions.write_jobs import request_job_commit

        try:
            start.wait(30)
            return str(request_job_commit(job, WriteArguments(), "", pusher.user).pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(ask, range(2)))) == 1
    assert CommitRequest.objects.filter(write_job=job).count() == 1
    assert client.datasets.version("digits@v1")["provenance"]["tasks"] == 1
