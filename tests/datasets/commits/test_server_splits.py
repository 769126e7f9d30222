"""Splitting a version on the server: a look beforehand, then a new version of the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from atom.datasets.models import CommitRequest, Dataset, Version
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, CommitFailedError
from tests.datasets.commits.test_push_again import splits_of
from tests.datasets.pushing import Pusher, png

SPLIT = {"test": "25%", "val": 3, "seed": 7}


# Three classes of four images, in no split.
labelled = pytest.mark.pushed(labels_from="folder")


@labelled
def test_a_split_is_a_new_version_with_the_same_files(client: Client, folder: Path) -> None:
    before = client.datasets.version("digits@v1")
    version = client.datasets.split("digits", SPLIT, "for the paper")
    assert (version["ref"], version["message"]) == ("v2", "for the paper")
    assert version["content_digest"] == before["content_digest"]
    assert client.datasets.stats("digits@v2")["splits"] == {"test": 3, "train": 6, "val": 3}
    roots = Version.objects.filter(dataset__name="digits").order_by("number")
    assert [row.provenance["kind"] for row in roots] == ["push", "split"]
    (folder / "0" / "new.png").write_bytes(png(77))
    client.datasets.push(folder, "digits")
    after = client.datasets.stats("digits@v3")
    assert after["splits"] == {"test": 3, "train": 7, "val": 3}
    assert after["labels"] == {"0": 5, "1": 4, "2": 4}


@labelled
def test_the_preview_says_what_the_split_gives(client: Client) -> None:
    rows = client.datasets.preview_split("digits@v1", SPLIT)
    assert [(row["name"], row["total"], row["unlabelled"]) for row in rows] == [
        ("test", 3, 0),
        ("train", 6, 0),
        ("val", 3, 0),
    ]
    assert rows[0]["labels"] == {"0": 1, "1": 1, "2": 1}
    assert client.datasets.stats("digits")["splits"] == {}
    client.datasets.split("digits", SPLIT)
    splits = splits_of(client, "digits")
    assert sum(split == "test" for split in splits.values()) == rows[0]["total"]
    again = client.datasets.preview_split("digits", {"test": 1, "seed": 8, "redraw": True})
    assert [(row["name"], row["total"]) for row in again] == [("test", 1), ("train", 11)]


@pytest.mark.parametrize(
    ("split", "code"),
    [
        ({"test": 13}, "split_impossible"),
        ({"test": 3, "seed": 8}, "split_redraw"),
        ({"test": 1, "val": 1, "seed": 7}, "split_redraw"),
    ],
)
@labelled
def test_what_cannot_be_drawn_is_refused_before_and_by_the_worker(
    client: Client, split: dict[str, Any], code: str
) -> None:
    client.datasets.split("digits", SPLIT)
    redraw = {"redraw": True} if code == "split_impossible" else {}
    with pytest.raises(ApiError) as shown:
        client.datasets.preview_split("digits", {**split, **redraw})
    assert shown.value.code == code
    with pytest.raises(CommitFailedError) as failed:
        client.datasets.split("digits", {**split, **redraw})
    assert failed.value.reason == code
    assert client.datasets.version("digits@main")["ref"] == "v2"


@labelled
def test_a_view_and_a_query_say_which_files_are_split(client: Client, folder: Path) -> None:
    client.views.save("digits", "low", "label IN ('0', '1')")
    asked = {"test": "50%", "seed": 7, "view": "low", "where": "size > 0"}
    rows = client.datasets.preview_split("digits", asked)
    assert [(row["name"], row["labels"]) for row in rows] == [
        ("test", {"0": 2, "1": 2}),
        ("train", {"0": 2, "1": 2}),
    ]
    version = client.datasets.split("digits", asked)
    said = version["provenance"]["split"]
    assert (said["where"], "view" in said) == ("label IN ('0', '1') AND size > 0", False)
    before = splits_of(client, "digits")
    assert {path for path, split in before.items() if split is not None} == {
        path for path in before if path[0] in "01"
    }
    # A view that is gone changes nothing: the version knows its question.
    client.views.remove("digits", "low")
    for name in ("0/new.png", "2/new.png"):
        (folder / name).write_bytes(png(len(name) + ord(name[0])))
    client.datasets.push(folder, "digits")
    after = splits_of(client, "digits")
    assert {path: after[path] for path in before} == before
    assert (after["0/new.png"], after["2/new.png"]) == ("test", None)


@pytest.mark.pushed
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"where": "label ="}, "query_invalid"),
        ({"where": "split = 'train'"}, "query_invalid"),
        ({"view": "none"}, "view_not_found"),
        ({"where": "size < 0"}, "split_empty"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    pusher: Pusher, question: dict[str, Any], code: str
) -> None:
    answer = pusher.client.get(f"{pusher.base}versions/v1/split-preview/", {"test": 1, **question})
    assert answer.json()["code"] == code
    if code != "split_empty":
        answer = pusher.client.post(f"{pusher.base}splits/", {"test": 1, **question})
        assert answer.json()["code"] == code


@pytest.mark.pushed
@pytest.mark.parametrize(
    "body", [{"test": "x"}, {"test": "60%", "val": "60%"}, {"tset": 3}, {"group_by": "label"}]
)
def test_a_body_that_is_wrong_is_refused(pusher: Pusher, body: dict[str, Any]) -> None:
    for answer in (
        pusher.client.post(f"{pusher.base}splits/", body),
        pusher.client.get(f"{pusher.base}versions/v1/split-preview/", body),
    ):
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_a_branch_without_a_version_cannot_be_split(pusher: Pusher) -> None:
    answer = pusher.client.post(f"{pusher.base}splits/", {"test": 1})
    assert (answer.status_code, answer.json()["code"]) == (404, "branch_empty")
    answer = pusher.client.post(f"{pusher.base}splits/", {"test": 1, "branch": "none"})
    assert (answer.status_code, answer.json()["code"]) == (404, "ref_not_found")


def test_a_request_that_changes_nothing_is_impossible(pusher: Pusher) -> None:
    dataset = Dataset.objects.get(name="digits")
    with pytest.raises(IntegrityError), transaction.atomic():
        CommitRequest.objects.create(dataset=dataset, branch="main")


@pytest.mark.parametrize("size", [[], {}, None, True, 0.5, "-1"])
def test_a_size_that_is_none_is_refused(pusher: Pusher, size: Any) -> None:
    answer = pusher.client.post(f"{pusher.base}splits/", {"test": size}, format="json")
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["test"])
