"""Writers: staged, readable at once, committed once; through the SDK."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import AuditEvent
from atom.datasets.models import Branch, Dataset, Version, Writer
from atom.datasets.retention.garbage_roots import readable_roots
from atom.datasets.writers.actions import writers
from atom.datasets.writers.actions.staging_branches import abandon_left_alone, tidy_writers
from atom.datasets.writers.actions.writers import NewWriter, open_writer
from atom_sdk.client import ApiError, Client
from atom_sdk.client.errors import (
    CommitFailedError,
    MergeConflictError,
    RefSyntaxError,
    WriterClosedError,
    WriterTakenOverError,
)
from atom_sdk.client.writing import DatasetWriter, WriterOptions
from tests.datasets.pushing import Pusher
from tests.datasets.writing import command, files_of, rows_of, writer_row
from tests.factories.accounts import make_member


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


@pytest.mark.parametrize(("there", "new"), [("a", "a/b/c"), ("a/b/c", "a")])
def test_nothing_becomes_a_file_and_a_folder(
    there: str, new: str, client: Client, pusher: Pusher
) -> None:
    with client.datasets.writer("digits") as first:
        first.write(there, b"1")
    writer = client.datasets.writer("digits")
    writer.write(new, b"2")

    with pytest.raises(CommitFailedError, match="a would be a file and a folder") as refused:
        writer.commit()

    assert refused.value.reason == "path_taken"
    assert list(files_of(client, "digits@main")) == [there]
    writer.remove(there)
    assert writer.commit()["ref"] == "v2"
    assert list(files_of(client, "digits@main")) == [new]


def test_a_version_that_only_removes_says_so(client: Client, pusher: Pusher) -> None:
    pusher.push({"a.txt": b"a", "b.txt": b"b", "c.txt": b"c"})
    with client.datasets.writer("digits") as writer:
        writer.remove("a.txt")
        writer.remove("b.txt")
    assert client.datasets.get("digits")["latest"]["message"] == "Remove 2 files"


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


def test_a_token_that_may_only_push_ends_no_writer_of_somebody_else(pusher: Pusher) -> None:
    writer = pusher.post("writers/", {})
    job = pusher.post("write-jobs/", {"name": "etl"})
    other = make_member(pusher.project, "researcher")
    calls = [
        (f"writers/{writer['id']}/uploading/", {"files": 1, "size_bytes": 1}),
        (f"writers/{writer['id']}/commit/", {}),
        (f"writers/{writer['id']}/abandon/", {}),
        (f"write-jobs/{job['id']}/commit/", {}),
        (f"write-jobs/{job['id']}/abort/", {}),
    ]

    def asked_with(scope: str, address: str, body: dict[str, Any]) -> tuple[int, str]:
        api = APIClient()
        secret = create_token(other, scope, [scope]).secret
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        answer = api.post(pusher.base + address, body)
        return answer.status_code, answer.json().get("code", "")

    for address, body in calls:
        assert asked_with("push", address, body) == (403, "writer_of_another"), address
    assert pusher.get(f"writers/{writer['id']}/")["state"] == "writing"
    assert pusher.get(f"write-jobs/{job['id']}/")["state"] == "open"
    # Whose token may write may end what somebody left, as in the portal.
    assert asked_with("write", *calls[2])[0] == 200
    assert pusher.get(f"writers/{writer['id']}/")["state"] == "abandoned"


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


def test_an_abandoned_writer_is_tidied_even_if_its_message_was_lost(pusher: Pusher) -> None:
    dataset = Dataset.objects.get()
    writer = open_writer(dataset, NewWriter("main"), pusher.user)
    Writer.objects.filter(pk=writer.pk).update(state="abandoned")
    assert tidy_writers() == 1
    assert tidy_writers() == 0
    assert list(dataset.branches.values_list("name", flat=True)) == ["main"]
