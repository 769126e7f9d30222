"""Branches, tags, merges, reverts, picks and edits, over the API."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connections

from atom.accounts.models import AuditEvent, User
from atom.datasets.actions import request_operation
from atom.datasets.actions.commits import run_commit
from atom.datasets.actions.operations import NewOperation
from atom.datasets.engines.operations import MergeArguments, Source
from atom.datasets.models import CommitRequest, Dataset, Version
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, delete_row, new_pusher, png
from tests.factories.accounts import make_member

FILES = class_files()


@pytest.fixture
def forked(transactional_db: None) -> Pusher:
    """Version 1 with labels and a split, and a branch `fix` that begins there."""
    return made_once(push_forked)


def push_forked() -> Pusher:
    pusher = new_pusher()
    split = {"test": 3, "seed": 7}
    pusher.push(FILES, labels_from="folder", split=split, provenance={"labels_from": "folder"})
    pusher.post("branches/", {"name": "fix", "at": "main"})
    return pusher


def carried_out(pusher: Pusher, address: str, **body: Any) -> dict[str, Any]:
    """Ask for an operation; returns the request at its end."""
    return pusher.get(f"commits/{pusher.post(f'{address}/', body)['id']}/")


def published(pusher: Pusher, address: str, **body: Any) -> dict[str, Any]:
    """Ask for an operation that must succeed; returns its version."""
    request = carried_out(pusher, address, **body)
    assert request["state"] == "published", request["error"]
    return dict(request["version"])


def paths_of(pusher: Pusher, ref: str = "main") -> set[str]:
    """Return the paths of a version."""
    return {row["path"] for row in pusher.get(f"versions/{ref}/entries/", limit=200)["results"]}


def entry(pusher: Pusher, path: str, ref: str = "main") -> dict[str, Any]:
    """Return one entry of a version."""
    return pusher.get(f"versions/{ref}/entries/at/", path=path)


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


def clash(pusher: Pusher) -> None:
    """Change one file on both branches, and remove on one what the other changed."""
    pusher.push({"0/000.png": png(50), "0/001.png": png(51)})
    pusher.push({"0/000.png": png(60)}, branch="fix")
    pusher.commit([delete_row("0/001.png")], branch="fix")


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


def pending_merge(dataset: Dataset, source: str, user: User, **options: str) -> CommitRequest:
    """Return a request for a merge into main that no worker has touched."""
    branch = dataset.branches.select_related("head").get(name=source)
    assert branch.head is not None
    arguments = {"source": {"ref": source, "commit": branch.head.commit, "dataset": ""}}
    return CommitRequest.objects.create(
        dataset=dataset, branch="main", operation="merge", created_by=user,
        arguments={**arguments, "on_conflict": "fail"}, **options,
    )  # fmt: skip


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


def test_files_are_removed_moved_copied_and_given_attributes_in_one_version(
    forked: Pusher,
) -> None:
    test = next(
        row["path"]
        for row in forked.get("versions/v1/entries/", limit=50)["results"]
        if row["split"] == "test" and row["path"][0] == "0"
    )
    edits = [
        {"op": "remove", "paths": ["2"]},
        {"op": "move", "paths": ["0/"], "to": "zero/"},
        {"op": "copy", "paths": ["1/000.png"], "to": "copies/"},
        {"op": "copy", "paths": ["2"], "to": "kept/", "source": "v1"},
        {"op": "set", "paths": ["1"], "attributes": {"camera": {"name": "A"}, "gone": None}},
    ]

    version = published(forked, "edits", edits=edits)

    assert paths_of(forked) == {
        *(f"zero/{n:03d}.png" for n in range(4)),
        *(f"1/{n:03d}.png" for n in range(4)),
        *(f"kept/2/{n:03d}.png" for n in range(4)),
        "copies/000.png",
    }
    moved = entry(forked, f"zero/{test[2:]}")
    assert (moved["label"], moved["split"]) == ("0", "test")
    assert entry(forked, "kept/2/000.png")["label"] == "2"
    assert entry(forked, "1/000.png")["attributes"] == {"camera": {"name": "A"}}
    assert version["provenance"]["edits"] == ["copy", "move", "remove", "set"]
    assert version["message"].startswith("Remove 2; Move 0/ to zero/; Copy 1/000.png to copies/")


def test_edits_take_the_files_that_match_a_query(forked: Pusher) -> None:
    edits = [
        {"op": "set", "where": "label = '1'", "attributes": {"rank": 3}},
        {"op": "remove", "where": "attributes.rank >= 3 AND name > '001.png'"},
        {"op": "move", "paths": ["0", "2"], "where": "label = '2'", "to": "kept/"},
    ]

    published(forked, "edits", edits=edits)

    assert paths_of(forked) == {
        "1/000.png",
        "1/001.png",
        *(f"0/{n:03d}.png" for n in range(4)),
        *(f"kept/2/{n:03d}.png" for n in range(4)),
    }
    assert entry(forked, "1/000.png")["attributes"] == {"rank": 3}


def test_files_come_from_another_dataset_of_the_project(forked: Pusher) -> None:
    other = Pusher(forked.project, forked.user, "other").create()
    other.push({"5/a.png": png(70)}, labels_from="folder")
    edit = {"op": "copy", "paths": ["5"], "to": "from-other/", "source": "other@v1"}

    published(forked, "edits", edits=[edit])

    found = entry(forked, "from-other/5/a.png")
    assert (found["label"], found["split"]) == ("5", "train")


REFUSED_EDITS: list[tuple[str, dict[str, Any]]] = [
    ("nothing_selected", {"op": "remove", "paths": ["nowhere"]}),
    ("empty_commit", {"op": "remove", "paths": ["/"]}),
    ("path_taken", {"op": "move", "paths": ["0/000.png"], "to": "1/000.png"}),
    ("path_taken", {"op": "move", "paths": ["0/000.png"], "to": "1/000.png/x"}),
    ("path_taken", {"op": "move", "paths": ["0/000.png"], "to": "1"}),
    ("edit_impossible", {"op": "move", "paths": ["0/000.png"], "to": "../x"}),
    ("edit_impossible", {"op": "move", "paths": ["0", "1"], "to": "x"}),
    ("edit_impossible", {"op": "set", "paths": ["0"], "attributes": {"unreadable": "no"}}),
    ("edit_impossible", {"op": "set", "paths": ["0"], "attributes": {"a": "x" * 20_000}}),
]


def test_an_edit_that_cannot_be_done_changes_nothing(forked: Pusher) -> None:
    for code, edit in REFUSED_EDITS:
        request = carried_out(forked, "edits", edits=[edit])

        assert (request["state"], request["error"]["code"]) == ("failed", code), edit
        assert request["error"]["action"]
    assert forked.get("versions/main/")["ref"] == "v1"


WRONG_BODIES: list[tuple[str, dict[str, Any], str]] = [
    ("merges", {"source": "fix", "on_conflict": "both"}, "on_conflict"),
    ("merges", {"source": "fix", "into": "main"}, "into"),
    ("picks", {"source": "fix"}, "paths"),
    ("edits", {"edits": [{"op": "remove", "where": "size >"}]}, "where"),
    ("edits", {"edits": [{"op": "remove"}]}, "edits.0.paths"),
    ("edits", {"edits": []}, "edits.non_field_errors"),
    ("edits", {"edits": [{"op": "move", "paths": ["0"]}]}, "edits.0.to"),
    ("edits", {"edits": [{"op": "remove", "paths": ["0"], "to": "x"}]}, "edits.0.to"),
    ("edits", {"edits": [{"op": "burn", "paths": ["0"]}]}, "edits.0.op"),
    ("edits", {"edits": [{"op": "remove", "paths": ["0"], "why": ""}]}, "edits.0.why"),
]


def test_a_wrong_body_is_told_by_field(pusher: Pusher) -> None:
    for address, body, field in WRONG_BODIES:
        answer = pusher.client.post(f"{pusher.base}{address}/", body)

        assert answer.status_code == 400
        assert field in answer.json()["errors"], answer.json()


def test_a_source_that_does_not_exist_is_not_found(forked: Pusher) -> None:
    answer = forked.client.post(f"{forked.base}merges/", {"source": "v99"})

    assert (answer.status_code, answer.json()["code"]) == (404, "ref_not_found")


def test_a_branch_is_deleted_where_it_was_seen_and_nowhere_else(forked: Pusher) -> None:
    seen = forked.head("fix")
    version = forked.push({"a.png": png(1)}, branch="fix")
    address = f"{forked.base}branches/fix/?expected_head="

    moved = forked.client.delete(f"{address}{seen}")
    assert (moved.status_code, moved.json()["code"]) == (409, "branch_moved")
    assert moved.json()["head"] == version["commit"]
    assert forked.client.delete(f"{address}{version['commit']}").status_code == 204
    assert forked.client.get(f"{forked.base}branches/fix/").status_code == 404
    # Its versions stay, and AuditEvent says who did it.
    assert forked.get(f"versions/{version['ref']}/")["commit"] == version["commit"]
    assert AuditEvent.objects.filter(verb="branch.deleted", actor=forked.user).count() == 1


def test_a_branch_of_a_deleted_name_begins_anew(forked: Pusher) -> None:
    first = forked.push({"a.png": png(1)}, branch="fix")
    forked.client.delete(f"{forked.base}branches/fix/?expected_head={first['commit']}")

    forked.post("branches/", {"name": "fix", "at": "v1"})
    second = forked.push({"b.png": png(2)}, branch="fix")

    assert second["parents"] == first["parents"]
    assert paths_of(forked, "fix") == {*FILES, "b.png"}


def test_main_is_never_deleted(forked: Pusher) -> None:
    answer = forked.client.delete(f"{forked.base}branches/main/?expected_head={forked.head()}")

    assert (answer.status_code, answer.json()["code"]) == (409, "branch_protected")


def test_a_tag_is_taken_away_by_administrators_only(forked: Pusher) -> None:
    forked.post("tags/", {"name": "release", "at": "v1"})
    assert forked.client.delete(f"{forked.base}tags/release/").status_code == 403

    admin = Pusher(forked.project, make_member(forked.project, "admin", "boss"))

    assert admin.client.delete(f"{forked.base}tags/release/").status_code == 204
    assert forked.get("tags/")["results"] == []
    event = AuditEvent.objects.get(verb="tag.deleted")
    assert (event.actor_name, event.data["at"]) == ("boss", forked.head())
