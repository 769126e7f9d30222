"""Merges, reverts and picks, over the API."""

from __future__ import annotations

import json
import threading

import pytest
from django.db import connections

from atom.datasets.commit_runner import run_commit
from atom.datasets.models import CommitRequest, Dataset, Version
from atom.datasets.operations.actions.operations import NewOperation, request_operation
from atom.datasets.operations.engines.operations import MergeArguments, Source
from tests.datasets.forks import (
    FILES,
    carried_out,
    clash,
    entry,
    paths_of,
    pending_merge,
    published,
)
from tests.datasets.pushing import Pusher, png


def test_a_merge_takes_what_both_sides_did(forked: Pusher) -> None:
    forked.push({"new/ours.png": png(1)}, provenance={"labels_from": "folder"})
    theirs = forked.push({"new/theirs.png": png(2)}, branch="fix")
    ours = forked.get("versions/main/")

    version = published(forked, "merges", source="fix", branch="main")

    assert (version["ref"], version["message"]) == ("v3", "Merge fix into main")
    assert version["parents"] == [ours["commit"], theirs["commit"]]
    assert (version["added"], version["removed"], version["changed"]) == (1, 0, 0)
    assert version["author"]["username"] == forked.user.username
    said = version["provenance"]
    assert (said["operation"], said["source"]) == ("merge", "fix")
    assert (said["source_commit"], said["base"]) == (theirs["commit"], ours["parents"][0])
    # The next push labels its files as the one before the merge did.
    assert said["labels_from"] == "folder"
    assert paths_of(forked) == {*FILES, "new/ours.png", "new/theirs.png"}


def test_a_branch_that_is_merged_already_is_left_as_it_is(forked: Pusher) -> None:
    request = carried_out(forked, "merges", source="v1", branch="fix")

    assert (request["state"], request["unchanged"]) == ("published", True)
    assert request["version"]["ref"] == "v1"


def test_a_branch_that_only_went_ahead_is_merged_by_a_commit(forked: Pusher) -> None:
    theirs = forked.push({"a.png": png(1)}, branch="fix")

    version = published(forked, "merges", source="fix", branch="main")

    assert (version["ref"], version["content_digest"]) == ("v2", theirs["content_digest"])
    assert version["parents"][1] == theirs["commit"]
    assert carried_out(forked, "merges", source="fix", branch="main")["unchanged"]


def test_what_both_changed_is_a_conflict_that_names_both_sides(forked: Pusher) -> None:
    clash(forked)

    request = carried_out(forked, "merges", source="fix", branch="main")

    assert (request["state"], request["conflicts_total"]) == ("conflict", 2)
    assert request["error"]["code"] == "merge_conflict"
    assert "0/000.png" in request["error"]["detail"]
    assert request["error"]["head"] == forked.head()
    by_path = {each["path"]: each for each in request["conflicts"]}
    assert (by_path["0/001.png"]["ours"], by_path["0/001.png"]["theirs"]) == ("changed", "removed")
    assert by_path["0/000.png"]["our_value"] == entry(forked, "0/000.png")["digest"]
    assert forked.get("versions/main/")["ref"] == "v2"


def test_a_conflict_of_attributes_alone_says_which_differ(forked: Pusher) -> None:
    for branch, camera in (("main", "A"), ("fix", "B" * 200)):
        attributes = {"camera": camera, "iso": 100}
        edit = {"op": "set", "paths": ["0/000.png"], "attributes": attributes}
        published(forked, "edits", branch=branch, edits=[edit])

    (found,) = carried_out(forked, "merges", source="fix", branch="main")["conflicts"]

    assert (found["layer"], found["field"]) == ("", "attributes")
    assert json.loads(found["our_value"]) == {"camera": "A"}
    assert json.loads(found["their_value"])["camera"].startswith('"BBB')
    assert len(found["their_value"]) < 150


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_conflict_can_be_settled_for_one_side(forked: Pusher, side: str) -> None:
    clash(forked)
    winner = entry(forked, "0/000.png", "main" if side == "ours" else "fix")["digest"]

    version = published(forked, "merges", source="fix", branch="main", on_conflict=side)

    assert entry(forked, "0/000.png")["digest"] == winner
    assert ("0/001.png" in paths_of(forked)) == (side == "ours")
    assert version["provenance"]["conflicts_settled"] == 2


def test_a_preview_counts_and_leaves_no_trace(forked: Pusher) -> None:
    clash(forked)
    forked.push({"more.png": png(9)}, branch="fix")
    versions = Version.objects.count()

    preview = forked.post("merges/preview/", {"source": "fix", "branch": "main"})

    assert (preview["added"], preview["conflicts_total"], preview["contained"]) == (1, 2, False)
    assert {each["path"] for each in preview["conflicts"]} == {"0/000.png", "0/001.png"}
    assert preview["head"]["ref"] == "v2"
    assert (Version.objects.count(), CommitRequest.objects.filter(operation="merge").count()) == (
        versions,
        0,
    )


@pytest.mark.django_db(transaction=True)
def test_merges_that_meet_both_come_in(forked: Pusher) -> None:
    forked.post("branches/", {"name": "other", "at": "main"})
    forked.push({"a.png": png(1)}, branch="fix")
    forked.push({"b.png": png(2)}, branch="other")
    dataset = Dataset.objects.select_related("project").get()
    requests = [pending_merge(dataset, name, forked.user) for name in ("fix", "other")]
    start = threading.Barrier(2)

    def work(request: CommitRequest) -> None:
        start.wait()
        run_commit(request.pk)
        connections.close_all()

    threads = [threading.Thread(target=work, args=[request]) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(
        CommitRequest.objects.filter(operation="merge").values_list("state", "error_code")
    ) == {("published", "")}
    assert {"a.png", "b.png"} <= paths_of(forked)
    assert [row["number"] for row in forked.get("versions/")["results"]] == [3, 2, 1]


def test_a_merge_that_died_after_moving_the_branch_is_not_done_twice(forked: Pusher) -> None:
    forked.push({"a.png": png(1)}, branch="fix")
    request = pending_merge(Dataset.objects.get(), "fix", forked.user)
    version = run_commit(request.pk).version
    CommitRequest.objects.filter(pk=request.pk).update(state="building", version=None)

    again = run_commit(request.pk)

    assert (again.state, again.version) == ("published", version)
    assert forked.get("versions/main/")["ref"] == "v2"


def test_a_merge_that_expects_a_head_is_refused_when_the_branch_moved(forked: Pusher) -> None:
    seen = forked.head()
    forked.push({"a.png": png(1)})
    forked.push({"b.png": png(2)}, branch="fix")

    request = carried_out(forked, "merges", source="fix", branch="main", expected_head=seen)

    assert (request["state"], request["error"]["code"]) == ("conflict", "head_moved")
    assert request["error"]["head"] == forked.head()


def test_a_merge_into_a_branch_that_is_deleted_meanwhile_fails_plainly(forked: Pusher) -> None:
    forked.push({"a.png": png(1)})
    dataset = Dataset.objects.select_related("project").get()
    source = Source("main", forked.head() or "")
    request = request_operation(
        dataset, NewOperation("merge", "fix", MergeArguments(source)), forked.user
    )
    CommitRequest.objects.filter(pk=request.pk).update(state="pending", version=None)
    head = forked.head("fix")
    answer = forked.client.delete(f"{forked.base}branches/fix/?expected_head={head}")
    assert answer.status_code == 204

    failed = run_commit(request.pk)

    assert (failed.state, failed.error_code) == ("failed", "ref_not_found")


def test_labels_of_both_branches_come_together(forked: Pusher) -> None:
    forked.push({"3/a.png": png(1)}, labels_from="folder")
    forked.push({"4/b.png": png(2)}, branch="fix", labels_from="folder")

    published(forked, "merges", source="fix", branch="main")

    assert (entry(forked, "3/a.png")["label"], entry(forked, "4/b.png")["label"]) == ("3", "4")
    assert entry(forked, "4/b.png")["split"] == "train"


def test_reverting_the_last_version_gives_the_one_before_it(forked: Pusher) -> None:
    before = forked.get("versions/v1/")
    undone = forked.push({"0/000.png": png(50), "x.png": png(51)}, message="Worse pictures")

    version = published(forked, "reverts", version="v2")

    assert version["content_digest"] == before["content_digest"]
    assert version["layers"] == before["layers"]
    assert version["message"] == "Revert v2: Worse pictures"
    assert version["provenance"]["reverts"] == undone["commit"]


def test_an_older_version_is_undone_below_later_ones(forked: Pusher) -> None:
    forked.push({"x.png": png(51)})
    forked.push({"y.png": png(52)})

    published(forked, "reverts", version="v2")

    assert paths_of(forked) == {*FILES, "y.png"}


def test_undoing_the_first_version_of_all_files_is_refused(forked: Pusher) -> None:
    request = carried_out(forked, "reverts", version="v1")

    assert (request["state"], request["error"]["code"]) == ("failed", "empty_commit")


def test_paths_of_another_version_can_be_picked(forked: Pusher) -> None:
    forked.push({"0/000.png": png(50), "1/000.png": png(51), "0/new.png": png(52)}, branch="fix")

    version = published(forked, "picks", source="fix", paths=["0/"])

    assert paths_of(forked) == {*FILES, "0/new.png"}
    assert entry(forked, "0/000.png")["digest"] == entry(forked, "0/000.png", "fix")["digest"]
    assert entry(forked, "1/000.png")["digest"] == entry(forked, "1/000.png", "v1")["digest"]
    assert version["message"] == "Pick 0/ from fix"


def test_what_one_version_changed_can_be_picked(forked: Pusher) -> None:
    forked.push({"a.png": png(50)}, branch="fix")
    forked.push({"b.png": png(51), "0/000.png": png(52)}, branch="fix")

    published(forked, "picks", source="fix", changes_only=True)

    assert paths_of(forked) == {*FILES, "b.png"}
    assert entry(forked, "0/000.png")["digest"] == entry(forked, "0/000.png", "fix")["digest"]
