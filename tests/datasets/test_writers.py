"""Writers and write jobs: staged, readable at once, committed once; through the SDK."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner
from django.db import connections

from atom.accounts.models import AuditEvent
from atom.datasets.actions import writers
from atom.datasets.actions.staging_branches import abandon_left_alone, tidy_writers
from atom.datasets.actions.writers import NewWriter, open_writer
from atom.datasets.garbage_roots import readable_roots
from atom.datasets.models import Branch, CommitRequest, Dataset, Version, WriteJob, Writer
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import ApiError, Client
from atom_sdk.client.errors import (
    CommitFailedError,
    MergeConflictError,
    RefSyntaxError,
    WriterClosedError,
    WriterTakenOverError,
)
from atom_sdk.client.writing import DatasetWriter, TaskWriter, WriterOptions
from tests.datasets.pushing import Pusher


def files_of(client: Client, reference: str) -> dict[str, bytes]:
    """Return what a version holds, as a reader sees it."""
    return {sample.path: bytes(sample.data) for sample in client.datasets.open(reference)}


def rows_of(client: Client, reference: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a version by path."""
    return {row["path"]: row for row in client.datasets.entries(reference)}


def command(client: Client, *words: str) -> Any:
    """Run `atom data writer …` and return its JSON."""
    context = Context()
    context._client = client
    done = CliRunner().invoke(cli, ["--json", "data", "writer", *words], obj=context)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def writer_row(client: Client, writer_id: str) -> dict[str, Any]:
    """Return a writer as the API answers it."""
    found = client.datasets.writers("digits", only_open=False)
    return next(row for row in found if row["id"] == writer_id)


def test_files_are_readable_when_persisted_and_become_one_version(
    client: Client, pusher: Pusher
) -> None:
    pusher.push({"old.txt": b"old", "gone.txt": b"gone", "same.txt": b"same"})
    before = pusher.get("versions/main/")

    options = WriterOptions(provenance={"inputs": ["raw@v1"], "writer": "a lie"})
    with client.datasets.writer("digits", message="Features", options=options) as writer:
        assert writer.state == "writing"
        writer.write("a/1.bin", b"first", label="cat", attributes={"n": 1})
        writer.write("a/1.bin", b"second", label="cat", attributes={"n": 2})
        writer.write("old.txt", io.BytesIO(b"new"))
        with writer.open("text/é.txt", "w", encoding="utf-8") as text:
            text.write("中文")
        writer.remove("gone.txt")
        writer.flush()

        assert writer.state == "persisted"
        assert files_of(client, writer.reference) == {
            "a/1.bin": b"second",
            "old.txt": b"new",
            "same.txt": b"same",
            "text/é.txt": "中文".encode(),
        }
        assert pusher.get("versions/main/")["commit"] == before["commit"]
        assert [row["name"] for row in pusher.get("branches/")["results"]] == ["main"]
        writer.write("later.txt", b"later")

    version = writer.version
    assert version is not None
    assert (version["ref"], version["message"]) == ("v2", "Features")
    assert version["parents"] == [before["commit"]]
    assert (version["added"], version["removed"], version["changed"]) == (3, 1, 1)
    said = version["provenance"]
    assert (said["writer"], said["inputs"]) == (writer.id, ["raw@v1"])
    found = rows_of(client, "digits@v2")
    assert set(found) == {"a/1.bin", "old.txt", "same.txt", "text/é.txt", "later.txt"}
    assert (found["a/1.bin"]["label"], found["a/1.bin"]["attributes"]) == ("cat", {"n": 2})
    assert writer.commit() == version, "asked again, it is the same"

    row = writer_row(client, writer.id)
    assert (row["state"], row["staging"], row["version"]["ref"]) == ("committed", None, "v2")
    assert (row["files_written"], row["files_removed"], row["bytes_written"]) == (4, 1, 20)
    assert list(client.datasets.writers("digits")) == []
    # Its staging branch is gone, and only what no version needs may be collected.
    assert not Branch.objects.filter(name__startswith="staging.").exists()
    assert set(Version.objects.filter(number=None).values_list("state", flat=True)) == {"expired"}
    with pytest.raises(WriterClosedError):
        writer.write("x", b"x")
    verbs = AuditEvent.objects.filter(object_type="writer").values_list("verb", flat=True)
    assert list(verbs) == ["writer.opened"]


def test_a_dataset_is_made_by_writing_to_it_and_nothing_written_makes_no_version(
    client: Client, pusher: Pusher
) -> None:
    with client.datasets.writer("fresh") as writer:
        writer.remove("nothing.txt")
    assert (writer.version, client.datasets.get("fresh")["latest"]) == (None, None)
    with client.datasets.writer("fresh") as writer:
        writer.write("only.txt", b"")
    assert client.datasets.get("fresh")["latest"]["message"] == "Write 1 file"
    assert files_of(client, "fresh@v1") == {"only.txt": b""}


def test_an_exception_leaves_the_staging_branch_to_go_on_with(
    client: Client, pusher: Pusher
) -> None:
    def fail(writer: DatasetWriter) -> None:
        with writer, writer.open("half.txt") as half:
            writer.write("whole.txt", b"whole")
            half.write(b"ha")
            _ = 1 / 0

    writer = client.datasets.writer("digits")
    with pytest.raises(ZeroDivisionError):
        fail(writer)
    assert files_of(client, writer.reference) == {"whole.txt": b"whole"}

    with client.datasets.writer("digits", resume=writer.id) as again:
        again.write("more.txt", b"more")
    assert files_of(client, "digits@v1") == {"whole.txt": b"whole", "more.txt": b"more"}
    with pytest.raises(WriterClosedError, match="is committed"):
        client.datasets.writer("digits", resume=writer.id)


KILLED = """
import os, signal, sys
from atom_sdk.client import Client
client = Client()
writer = client.datasets.writer("digits")
for n in range(3):
    writer.write(f"persisted/{n}.txt", str(n).encode())
writer.flush()
writer.write("not-yet.txt", b"not persisted")
print(writer.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_loses_nothing_that_was_persisted(
    client: Client, pusher: Pusher
) -> None:
    env = {
        **os.environ,
        "ATOM_URL": client.config.url,
        "ATOM_TOKEN": client.config.token,
        "ATOM_PROJECT": pusher.project.slug,
    }
    done = subprocess.run(
        [sys.executable, "-c", KILLED], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr

    with client.datasets.writer("digits", resume=done.stdout.strip()) as writer:
        writer.write("persisted/1.txt", b"again")
    assert files_of(client, "digits@v1") == {
        "persisted/0.txt": b"0",
        "persisted/1.txt": b"again",
        "persisted/2.txt": b"2",
    }
    assert pusher.get("versions/")["results"][0]["ref"] == "v1"


def test_a_branch_that_moved_is_merged_and_a_conflict_asks_whose_side_counts(
    client: Client, pusher: Pusher
) -> None:
    pusher.push({"both.txt": b"0", "theirs.txt": b"0"})
    writer = client.datasets.writer("digits")
    writer.write("both.txt", b"written")
    writer.write("mine.txt", b"written")
    writer.flush()
    pusher.push({"both.txt": b"pushed", "theirs.txt": b"pushed"})

    with pytest.raises(MergeConflictError) as clash:
        writer.commit()
    assert [row["path"] for row in clash.value.conflicts] == ["both.txt"]
    row = writer_row(client, writer.id)
    assert (row["state"], row["error"]["code"]) == ("persisted", "merge_conflict")

    assert writer.commit(on_conflict="theirs")["ref"] == "v3"
    assert files_of(client, "digits@v3") == {
        "both.txt": b"written",
        "mine.txt": b"written",
        "theirs.txt": b"pushed",
    }


def test_what_a_writer_and_the_branch_both_changed_is_settled_file_by_file(
    client: Client, pusher: Pusher
) -> None:
    pusher.push({"a.txt": b"0", "b.txt": b"0", "c.txt": b"0"})
    writer = client.datasets.writer("digits")
    for name in ("a.txt", "b.txt"):
        writer.write(name, b"written")
    writer.flush()
    pusher.push({"a.txt": b"pushed", "b.txt": b"pushed"})
    mine, gone = {"path": "a.txt", "take": "theirs"}, {"path": "c.txt", "take": "ours"}

    with pytest.raises(CommitFailedError, match=r"No conflict is at c\.txt\.") as refused:
        writer.commit("ours", resolutions=[mine, gone])
    assert refused.value.reason == "not_in_conflict"
    assert writer_row(client, writer.id)["state"] == "persisted"
    command(client, "commit", "digits", writer.id, "--ours", "--take", "theirs:a.txt")
    assert files_of(client, "digits@v3") == {"a.txt": b"written", "b.txt": b"pushed", "c.txt": b"0"}


def test_the_tasks_of_a_job_are_settled_together(client: Client, pusher: Pusher) -> None:
    pusher.push({"a.txt": b"0", "b.txt": b"0"})
    job = client.datasets.write_job("digits", "etl")
    for name in ("a.txt", "b.txt"):
        with job.task(name) as task:
            task.write(name, b"written")
    pusher.push({"a.txt": b"pushed", "b.txt": b"pushed"})
    named = [{"path": "a.txt", "take": "theirs"}, {"path": "b.txt", "take": "ours"}]

    version = job.commit(resolutions=named)

    assert version["provenance"]["conflicts_settled"] == 2
    assert files_of(client, "digits@v3") == {"a.txt": b"written", "b.txt": b"pushed"}


def test_two_processes_do_not_write_over_each_other_with_one_writer(
    client: Client, pusher: Pusher
) -> None:
    one = client.datasets.writer("digits")
    one.write("one.txt", b"1")
    one.flush()
    other = client.datasets.writer("digits", resume=one.id)
    other.write("other.txt", b"2")
    other.flush()
    one.write("late.txt", b"3")
    for _ in range(2):
        with pytest.raises(WriterTakenOverError):
            one.flush()
    one.close()
    other.commit()
    assert set(files_of(client, "digits@v1")) == {"one.txt", "other.txt"}


def test_a_staging_branch_belongs_to_its_writer(client: Client, pusher: Pusher) -> None:
    pusher.push({"a.txt": b"a"})
    writer = client.datasets.writer("digits")
    writer.write("b.txt", b"b")
    writer.flush()
    staging = writer.reference.partition("@")[2]
    operations = client.operations
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("ref_name_taken", lambda: operations.create_branch("digits", "staging.mine")),
        ("ref_name_taken", lambda: operations.create_tag("digits@main", "staging.mine")),
        ("staging_branch_reserved", lambda: operations.delete_branch("digits", staging)),
        ("staging_branch_reserved", lambda: operations.merge("digits@main", into=staging)),
        ("ref_not_found", lambda: client.datasets.writer("digits", branch=staging)),
        ("ref_not_found", lambda: client.datasets.writer("digits", branch="none")),
    ]
    for code, ask in refused:
        with pytest.raises(ApiError) as error:
            ask()
        assert error.value.code == code
    head = writer_row(client, writer.id)["head"]
    body = {"branch": staging, "expected_head": head, "changes_upload": str(writer.id)}
    assert pusher.client.post(f"{pusher.base}commits/", body).status_code == 400
    with pytest.raises(RefSyntaxError):
        client.datasets.writer("Not A Name")

    # Whoever may read the project reads it; a tag keeps it, whatever becomes of the writer.
    operations.create_tag(writer.reference, "kept")
    writer.abandon()
    assert files_of(client, "digits@kept") == {"a.txt": b"a", "b.txt": b"b"}
    assert writer_row(client, writer.id)["state"] == "abandoned"
    writer.abandon()


def test_writers_that_nobody_touches_end_and_their_files_can_be_collected(
    pusher: Pusher, client: Client
) -> None:
    writer = client.datasets.writer("digits")
    writer.write("a.txt", b"a")
    writer.flush()
    writer.close()
    job = client.datasets.write_job("digits", "etl")
    attempt = job.task(1)
    attempt.write("b.txt", b"b")
    attempt.flush()
    attempt.close()
    staged = {version.root for version in Version.objects.all()}
    project = pusher.project

    abandon_left_alone(timedelta(days=7))
    assert (writer.state, job.row["state"]) == ("persisted", "open")
    assert readable_roots(project) == staged, "an open writer's files are needed"

    abandon_left_alone(timedelta(0))
    tidy_writers()
    assert (writer.state, attempt.state, job.row["state"]) == ("abandoned", "abandoned", "aborted")
    assert set(Version.objects.values_list("state", flat=True)) == {"expired"}
    assert not Branch.objects.filter(name__startswith="staging.").exists()


def test_a_dataset_has_so_many_open_writers_and_no_more(
    pusher: Pusher, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "MAX_OPEN_WRITERS", 1)
    first = client.datasets.writer("digits")
    with pytest.raises(ApiError, match="1 may be open") as error:
        client.datasets.writer("digits")
    assert error.value.code == "too_many_writers"
    assert command(client, "abandon", "digits", first.id)["state"] == "abandoned"
    client.datasets.writer("digits").abandon()


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


def test_the_api_refuses_what_makes_no_sense(client: Client, pusher: Pusher) -> None:
    def refused(address: str, body: dict[str, Any]) -> tuple[int, str]:
        answer = pusher.client.post(pusher.base + address, body)
        return answer.status_code, answer.json()["code"]

    writer = pusher.post("writers/", {})
    one = f"writers/{writer['id']}/"
    job = pusher.post("write-jobs/", {"name": "etl"})
    many = f"write-jobs/{job['id']}/"
    attempt = pusher.post("writers/", {"write_job": job["id"], "task": "1"})
    nowhere = "01890000-0000-7000-8000-000000000000"
    assert refused("writers/", {"task": "1"}) == (400, "invalid")
    assert refused("writers/", {"what": 1}) == (400, "invalid")
    assert refused("writers/", {"branch": "no/slug"}) == (400, "invalid")
    assert refused("writers/", {"write_job": nowhere, "task": "1"}) == (404, "write_job_unknown")
    assert refused("write-jobs/", {"name": "etl", "branch": "x"}) == (409, "write_job_differs")
    assert refused(f"{one}uploading/", {"files": -1, "size_bytes": 1}) == (400, "invalid")
    assert refused(f"{one}flushes/", {"changes_upload": nowhere}) == (400, "invalid")
    assert refused(f"{one}commit/", {}) == (409, "writer_empty")
    assert refused(f"{one}commit/", {"on_conflict": "mine"}) == (400, "invalid")
    assert refused(f"writers/{nowhere}/commit/", {}) == (404, "writer_unknown")
    assert refused(f"writers/{attempt['id']}/commit/", {}) == (409, "write_job_ended")
    assert refused(f"{many}tasks/", {"task": "1", "writer": nowhere}) == (404, "writer_unknown")
    for task, chosen in (("2", attempt), ("1", writer)):
        body = {"task": task, "writer": chosen["id"]}
        assert refused(f"{many}tasks/", body) == (409, "task_not_of_job")
    assert pusher.client.get(f"{pusher.base}writers/?open=maybe").status_code == 400


def test_requests_of_two_drivers_at_once_are_one(pusher: Pusher, client: Client) -> None:
    with client.datasets.write_job("digits", "etl").task("a") as attempt:
        attempt.write("a.txt", b"a")
    job = WriteJob.objects.get()
    with pytest.raises(ApiError) as refused:
        attempt.abandon()
    assert refused.value.code == "writer_ended", "a task that counts is not taken away in silence"
    start = threading.Barrier(2)

    def ask(_: int) -> str:
        from atom.datasets.actions import request_job_commit
        from atom.datasets.engines.operations import WriteArguments

        try:
            start.wait(30)
            return str(request_job_commit(job, WriteArguments(), "", pusher.user).pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(ask, range(2)))) == 1
    assert CommitRequest.objects.filter(write_job=job).count() == 1
    assert client.datasets.version("digits@v1")["provenance"]["tasks"] == 1


def test_an_abandoned_writer_is_tidied_even_if_its_message_was_lost(pusher: Pusher) -> None:
    dataset = Dataset.objects.get()
    writer = open_writer(dataset, NewWriter("main"), pusher.user)
    Writer.objects.filter(pk=writer.pk).update(state="abandoned")
    assert tidy_writers() == 1
    assert tidy_writers() == 0
    assert list(dataset.branches.values_list("name", flat=True)) == ["main"]
