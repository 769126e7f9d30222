"""Conflicts settled one by one, over the API: merges, reverts, picks and what writers commit."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom.datasets.commit_runner import run_commit
from atom.datasets.models import CommitRequest, Dataset
from atom.datasets.versions.engines.version_plan import GIVEN_LAYER
from tests.datasets.forks import (
    FILES,
    carried_out,
    clash,
    entry,
    paths_of,
    pending_merge,
    published,
)
from tests.datasets.pushing import CHANGES_SCHEMA, Pusher, delete_row, make_pack, png, put_rows

BOTH = [{"path": "0/000.png", "take": "theirs"}, {"path": "0/001.png", "take": "ours"}]


def refused(pusher: Pusher, resolutions: Any) -> dict[str, Any]:
    """Ask for a merge that the API refuses at once; returns the problem."""
    body = {"source": "fix", "branch": "main", "resolutions": resolutions}
    answer = pusher.client.post(f"{pusher.base}merges/", body, format="json")
    assert answer.status_code == 400, answer.content
    return dict(answer.json())


def test_each_conflict_takes_the_side_that_is_named_for_it(forked: Pusher) -> None:
    clash(forked)
    theirs = entry(forked, "0/000.png", "fix")["digest"]

    version = published(forked, "merges", source="fix", branch="main", resolutions=BOTH)

    assert entry(forked, "0/000.png")["digest"] == theirs
    assert "0/001.png" in paths_of(forked)
    assert version["provenance"]["conflicts_settled"] == 2


def test_what_is_not_named_follows_the_side_for_all(forked: Pusher) -> None:
    clash(forked)
    asked = {"source": "fix", "branch": "main", "resolutions": BOTH[:1]}

    left = carried_out(forked, "merges", **asked)

    assert (left["state"], left["error"]["code"]) == ("conflict", "merge_conflict")
    assert [each["path"] for each in left["conflicts"]] == ["0/001.png"]
    assert left["conflicts_total"] == 1
    published(forked, "merges", **asked, on_conflict="theirs")
    assert "0/001.png" not in paths_of(forked)


def label_anew(pusher: Pusher, branch: str, label: str) -> None:
    """Give two files of class 0 another label on a branch."""
    pack = make_pack({path: FILES[path] for path in ("0/000.png", "0/001.png")})
    pusher.stage(pack.data)
    schema = CHANGES_SCHEMA
    rows = [{**row, "label": label} for row in put_rows(pack)]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out)
    changes = pusher.stage(out.getvalue(), "changes")
    head = pusher.head(branch)
    pusher.post("commits/", {"changes_upload": changes.pk, "branch": branch, "expected_head": head})


def test_a_label_is_settled_by_its_field(forked: Pusher) -> None:
    for branch, label in (("main", "cat"), ("fix", "dog")):
        label_anew(forked, branch, label)
    named = {"path": "0/000.png", "layer": GIVEN_LAYER, "field": "label", "take": "theirs"}

    published(
        forked, "merges", source="fix", branch="main", on_conflict="ours", resolutions=[named]
    )

    assert entry(forked, "0/000.png")["label"] == "dog"
    assert entry(forked, "0/001.png")["label"] == "cat"


def test_attributes_are_settled_as_their_conflict_is_told(forked: Pusher) -> None:
    for branch, camera in (("main", "A"), ("fix", "B")):
        edit = {"op": "set", "paths": ["0/000.png"], "attributes": {"camera": camera}}
        published(forked, "edits", branch=branch, edits=[edit])
    (found,) = carried_out(forked, "merges", source="fix", branch="main")["conflicts"]
    named = {name: found[name] for name in ("path", "layer", "field")} | {"take": "theirs"}

    published(forked, "merges", source="fix", branch="main", resolutions=[named])

    assert entry(forked, "0/000.png")["attributes"] == {"camera": "B"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ({"path": "0/002.png"}, "No conflict is at 0/002.png."),
        (
            {"path": "0/002.png", "layer": "labels", "field": "label"},
            "No conflict is at 0/002.png: labels: label.",
        ),
        ({"path": "nowhere"}, "No conflict is at nowhere."),
    ],
)
def test_what_is_not_in_conflict_is_refused_by_its_name(
    forked: Pusher, name: dict[str, str], told: str
) -> None:
    clash(forked)
    head = forked.head()
    resolutions = [*BOTH, {**name, "take": "ours"}]

    request = carried_out(forked, "merges", source="fix", branch="main", resolutions=resolutions)

    assert (request["state"], request["error"]["code"]) == ("failed", "not_in_conflict")
    assert request["error"]["detail"] == told
    assert forked.head() == head
    body = {"source": "fix", "branch": "main", "resolutions": resolutions}
    answer = forked.client.post(f"{forked.base}merges/preview/", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_in_conflict")


def test_a_path_whose_conflict_is_gone_since_the_branch_moved_is_refused(forked: Pusher) -> None:
    clash(forked)
    request = pending_merge(Dataset.objects.get(), "fix", forked.user)
    request.arguments["resolutions"] = [{**each, "layer": "", "field": ""} for each in BOTH]
    request.save()
    forked.commit([delete_row("0/001.png")])

    assert run_commit(request.pk).error_code == "not_in_conflict"
    assert "0/001.png." in CommitRequest.objects.get(pk=request.pk).error_detail


def test_a_merge_that_is_done_already_has_no_conflict_to_settle(forked: Pusher) -> None:
    clash(forked)
    asked = {"source": "fix", "branch": "main", "resolutions": BOTH}
    published(forked, "merges", **asked)

    again = carried_out(forked, "merges", **asked)

    assert (again["state"], again["error"]["code"]) == ("failed", "not_in_conflict")


@pytest.mark.parametrize(
    ("resolutions", "at", "told"),
    [
        ([{"path": "a"}], "resolutions.0.take", "required"),
        ([{"path": "a", "take": "both"}], "resolutions.0.take", "not a valid choice"),
        ([{"path": ["a"], "take": "ours"}], "resolutions.0.path", "Not a valid string"),
        ([{"path": "", "take": "ours"}], "resolutions.0.path", "Name a path."),
        ([{"path": "a", "field": "label", "take": "ours"}], "resolutions.0.field", "layer"),
        ([{"path": "a", "side": "ours", "take": "ours"}], "resolutions.0.side", "no such field"),
        ({"a": "ours"}, "resolutions.non_field_errors", "Expected a list"),
        ("a", "resolutions.non_field_errors", "Expected a list"),
        (
            [{"path": "a", "take": "ours"}, {"path": "a", "take": "theirs"}],
            "resolutions",
            "Settled more than once: a.",
        ),
        (
            [{"path": f"{n}", "take": "ours"} for n in range(10_001)],
            "resolutions.non_field_errors",
            "no more than 10000",
        ),
    ],
)
def test_resolutions_that_cannot_be_meant_are_refused_at_once(
    forked: Pusher, resolutions: Any, at: str, told: str
) -> None:
    errors = refused(forked, resolutions)["errors"]

    assert list(errors) == [at]
    assert told in errors[at][0]
    assert not CommitRequest.objects.filter(operation="merge").exists()


def test_a_preview_tells_what_is_left_to_settle_with_pictures_of_both_sides(
    forked: Pusher,
) -> None:
    clash(forked)
    asked = {"source": "fix", "branch": "main"}

    preview = forked.post("merges/preview/", asked)

    changed, gone = preview["conflicts"][0], preview["conflicts"][1]
    if changed["path"] != "0/000.png":
        changed, gone = gone, changed
    assert changed["our_thumb_url"]
    assert changed["our_thumb_url"] != changed["their_thumb_url"]
    assert gone["our_thumb_url"]
    assert gone["their_thumb_url"] is None
    left = forked.post("merges/preview/", {**asked, "resolutions": BOTH[:1]})
    assert [each["path"] for each in left["conflicts"]] == ["0/001.png"]
    assert (left["conflicts_total"], left["settled"]) == (1, 1)
    # Settled conflicts count by their choice: the file comes from the other side.
    assert left["changed"] == 1
    assert forked.post("merges/preview/", {**asked, "resolutions": BOTH})["conflicts_total"] == 0


def test_a_revert_and_a_pick_are_settled_item_by_item(forked: Pusher) -> None:
    original = entry(forked, "0/000.png")["digest"]
    forked.push({"0/000.png": png(50), "0/001.png": png(51)})
    forked.push({"0/000.png": png(60), "0/001.png": png(61)})
    mine = entry(forked, "0/001.png")["digest"]

    published(forked, "reverts", version="v2", branch="main", resolutions=BOTH)

    assert entry(forked, "0/000.png")["digest"] == original
    assert entry(forked, "0/001.png")["digest"] == mine
    again = entry(forked, "0/000.png", "v2")["digest"]
    forked.push({"0/000.png": png(70)})
    published(forked, "picks", source="v2", branch="main", changes_only=True, resolutions=BOTH)
    assert entry(forked, "0/000.png")["digest"] == again
    assert entry(forked, "0/001.png")["digest"] == mine
