"""Edits of a branch without its bytes, over the API."""

from __future__ import annotations

from typing import Any

from tests.datasets.forks import carried_out, entry, paths_of, published
from tests.datasets.pushing import Pusher, png


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


def test_labels_and_splits_are_set_and_taken_away_by_query(forked: Pusher) -> None:
    edits = [
        {"op": "label", "where": "folder = '1'", "value": "eins"},
        {"op": "label", "paths": ["2"], "value": ""},
        {"op": "split", "where": "label = 'eins'", "value": "test"},
        {"op": "split", "paths": ["2/"], "value": ""},
    ]

    version = published(forked, "edits", edits=edits)

    one, two = entry(forked, "1/002.png"), entry(forked, "2/002.png")
    assert (one["label"], one["split"]) == ("eins", "test")
    assert (two["label"], two["split"]) == (None, None)
    assert entry(forked, "0/000.png")["label"] == "0"
    assert version["message"].startswith("Set label eins of / where folder = '1'; Take the label")


def test_a_label_or_split_that_cannot_be_is_refused_before_anything_runs(forked: Pusher) -> None:
    for edit in (
        {"op": "split", "paths": ["0"], "value": "exam"},
        {"op": "label", "paths": ["0"], "value": "a\x07b"},
        {"op": "remove", "paths": ["0"], "value": "x"},
    ):
        body = {"branch": "main", "edits": [edit]}
        answer = forked.client.post(f"{forked.base}edits/", body, format="json")
        assert answer.status_code == 400, edit
        assert "value" in str(answer.json()["errors"])
