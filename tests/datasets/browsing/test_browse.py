"""Looking into a version: folders, filters, pages, counts, differences."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from atom_sdk.client import Client
from atom_sdk.readers.unsplit import UnsplitFilesWarning
from atom_sdk.run.split import split_of
from tests.datasets.prepared import made_once
from tests.datasets.pushing import (
    Pusher,
    class_files,
    delete_row,
    make_pack,
    new_pusher,
    png,
    put_rows,
)


@pytest.fixture
def pushed(committing_db: None) -> Pusher:
    """Three classes of four images, two images without a label, a text file at the root."""
    return made_once(push_pushed)


def push_pushed() -> Pusher:
    pusher = new_pusher()
    files = class_files() | {"unlabelled/x.png": png(901), "unlabelled/y.png": png(902)}
    pusher.push(
        files | {"README.txt": b"hello"},
        labels_from="folder",
        unlabelled_prefixes=["unlabelled"],
        split={"test": 3, "val": 0, "seed": 7, "stratify": True},
    )
    return pusher


def entries(pusher: Pusher, **params: Any) -> dict[str, Any]:
    """Return a page of version 1."""
    return pusher.get("versions/v1/entries/", **params)


def paths(page: dict[str, Any]) -> list[str]:
    """Return the paths of a page."""
    return [row["path"] for row in page["results"]]


def all_paths(pusher: Pusher, **params: Any) -> list[str]:
    """Return the paths of all pages."""
    page = entries(pusher, **params)
    found = paths(page)
    while page["next"]:
        page = entries(pusher, cursor=page["next"], **params)
        found += paths(page)
    return found


def test_the_top_folder_shows_folders_and_root_files(pushed: Pusher) -> None:
    page = entries(pushed, delimiter="/")

    assert [folder["prefix"] for folder in page["folders"]] == ["0/", "1/", "2/", "unlabelled/"]
    assert [folder["name"] for folder in page["folders"]][-1] == "unlabelled"
    assert paths(page) == ["README.txt"]
    assert page["total"] == 15


def test_a_folder_shows_its_files_with_links(pushed: Pusher) -> None:
    page = entries(pushed, delimiter="/", prefix="1/")

    assert paths(page) == [f"1/{n:03d}.png" for n in range(4)]
    assert page["total"] == 4
    row = page["results"][0]
    assert row["label"] == "1"
    assert row["media_type"] == "image/png"
    assert row["media_url"].startswith("/media/")
    assert row["thumb_url"].startswith("/media/")


def test_a_text_file_has_no_thumbnail(pushed: Pusher) -> None:
    row = pushed.get("versions/v1/entries/at/", path="README.txt")

    assert row["thumb_url"] is None
    assert row["label"] is None


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_pages_give_every_path_once_and_in_order(pushed: Pusher, limit: int) -> None:
    found = all_paths(pushed, limit=limit)

    assert found == sorted(found)
    assert len(found) == len(set(found)) == 15


def test_pages_by_folder_give_every_folder_once(pushed: Pusher) -> None:
    page = entries(pushed, delimiter="/", limit=2)
    folders = [folder["prefix"] for folder in page["folders"]]
    while page["next"]:
        page = entries(pushed, delimiter="/", limit=2, cursor=page["next"])
        folders += [folder["prefix"] for folder in page["folders"]]

    assert folders == ["0/", "1/", "2/", "unlabelled/"]


@pytest.mark.parametrize(
    ("params", "count"),
    [
        ({"label": "1"}, 4),
        ({"labelled": "true"}, 12),
        ({"labelled": "false"}, 3),
        ({"split": "test"}, 3),
        ({"split": "train"}, 12),
        ({"split": "train", "labelled": "false"}, 3),
        ({"split": "test", "labelled": "true"}, 3),
        ({"label": "1", "labelled": "false"}, 0),
        ({"label": "none such"}, 0),
        ({"label": "1", "prefix": "2/"}, 0),
        ({"labelled": "false", "prefix": "unl"}, 2),
    ],
)
def test_filters_agree_with_their_total(pushed: Pusher, params: dict[str, str], count: int) -> None:
    found = all_paths(pushed, limit=2, **params)

    assert len(found) == count
    assert entries(pushed, **params)["total"] == count


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"prefix": "1/"},
        {"prefix": "unl", "labelled": "false"},
        {"labelled": "false"},
        {"labelled": "true"},
        {"label": "2"},
        {"split": "train"},
        {"split": "train", "labelled": "false"},
        {"split": "train", "label": "0"},
    ],
)
def test_a_jump_by_offset_lands_where_walking_does(pushed: Pusher, params: dict[str, str]) -> None:
    walked = all_paths(pushed, limit=2, **params)

    for offset in range(len(walked) + 2):
        page = entries(pushed, limit=2, offset=offset, **params)
        assert paths(page) == walked[offset : offset + 2]
        assert page["total"] == len(walked)
        assert (page["next"] is None) == (offset + 2 >= len(walked))


@pytest.mark.parametrize(
    "params", [{"offset": "-1"}, {"offset": "x"}, {"offset": 1, "delimiter": "/"}]
)
def test_an_offset_that_means_nothing_is_refused(pushed: Pusher, params: dict[str, str]) -> None:
    answer = pushed.client.get(f"{pushed.base}versions/v1/entries/", params)

    assert answer.status_code == 400
    assert "offset" in answer.json()["errors"]


def test_stats_count_labels_splits_and_types(pushed: Pusher) -> None:
    stats = pushed.get("versions/v1/stats/")

    assert stats["labels"] == {"0": 4, "1": 4, "2": 4}
    assert stats["splits"] == {"test": 3, "train": 12}
    assert stats["media_types"] == {"image/png": 14, "text/plain": 1}
    assert (stats["unlabelled"], stats["unreadable"]) == (3, 0)
    assert (stats["unsplit"], stats["unsplit_paths"]) == (0, [])


def test_files_in_no_split_are_counted_and_named(pusher: Pusher, client: Client) -> None:
    files = {f"{n}.png": png(n) for n in range(5)}
    pusher.push(files)
    assert pusher.get("versions/v1/stats/")["unsplit"] == 0, "a version without splits is all train"
    edits = [{"op": "split", "paths": ["0.png", "3.png"], "value": "val"}]
    pusher.post("edits/", {"edits": edits, "branch": "main"})
    stats = pusher.get("versions/v2/stats/")
    assert (stats["splits"], stats["unsplit"]) == ({"val": 2}, 3)
    assert stats["unsplit_paths"] == ["1.png", "2.png", "4.png"]

    with pytest.warns(UnsplitFilesWarning, match=r"digits@v2: 3 files in no split .*'1\.png'"):
        assert len(client.datasets.open("digits@v2", split="train")) == 3
    with pytest.warns(UnsplitFilesWarning, match="3 files in no split"):
        assert len(split_of(client.datasets.open("digits@v2"), "train")) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for reference, split in (("digits@v1", "train"), ("digits@v2", "val"), ("digits@v2", None)):
            client.datasets.open(reference, split=split)


def test_the_split_is_stratified(pushed: Pusher) -> None:
    rows = entries(pushed, split="test")["results"]

    assert sorted(row["label"] for row in rows) == ["0", "1", "2"]


def test_a_split_stays_by_path_when_files_come_and_change(pushed: Pusher) -> None:
    before = set(all_paths(pushed, split="test"))
    more = {f"1/{n:03d}.png": png(5000 + n) for n in range(2, 9)}
    split = {"test": 3, "val": 0, "seed": 7, "stratify": True}

    pushed.push(more, labels_from="folder", split=split)

    rows = pushed.get("versions/v2/entries/", split="test")["results"]
    assert {row["path"] for row in rows} == before
    assert pushed.get("versions/v2/stats/")["splits"] == {"test": 3, "train": 17}


def test_a_split_that_lost_a_file_is_filled_again_without_moving_the_others(
    pushed: Pusher,
) -> None:
    before = all_paths(pushed, split="test")
    pack = make_pack({"0/100.png": png(1), "0/101.png": png(2)})
    pushed.upload(pack.data)
    split = {"test": 3, "val": 0, "seed": 7, "stratify": True}

    pushed.commit([*put_rows(pack), delete_row(before[0])], labels_from="folder", split=split)

    rows = pushed.get("versions/v2/entries/", split="test")["results"]
    now = {row["path"] for row in rows}
    assert len(now) == 3
    assert set(before[1:]) < now
    assert now - set(before) <= {"0/100.png", "0/101.png"}


def test_a_split_larger_than_the_data_is_refused(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(pack.data)

    request = pusher.commit(put_rows(pack), labels_from="folder", split={"test": 1000})

    assert request["error"]["code"] == "split_impossible"


def test_a_changed_file_loses_labels_that_belonged_to_its_old_bytes(pushed: Pusher) -> None:
    pushed.push({"1/000.png": png(4444)})

    assert pushed.get("versions/v2/entries/at/", path="1/000.png")["label"] is None
    assert pushed.get("versions/v2/entries/at/", path="1/001.png")["label"] == "1"


def test_an_image_that_cannot_be_opened_is_marked(pusher: Pusher) -> None:
    cut = png(1, 64)[:60]
    pusher.push({"bad.png": b"this is no picture", "cut.png": cut, "good.png": png(2)})

    bad = pusher.get("versions/v1/entries/at/", path="bad.png")
    good = pusher.get("versions/v1/entries/at/", path="good.png")
    assert bad["attributes"]["unreadable"] == "not an image of a known format"
    assert good["attributes"] == {}
    stats = pusher.get("versions/v1/stats/")
    assert (stats["unreadable"], stats["unreadable_paths"]) == (2, ["bad.png", "cut.png"])


def test_a_client_cannot_claim_that_an_image_is_unreadable(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1)})
    pusher.upload(pack.data)

    pusher.commit([{**put_rows(pack)[0], "attributes": '{"unreadable":"x","camera":"left"}'}])

    row = pusher.get("versions/v1/entries/at/", path="a.png")
    assert row["attributes"] == {"camera": "left"}


def test_a_diff_names_added_removed_changed_and_renamed(pushed: Pusher) -> None:
    pack = make_pack({"0/000.png": png(800), "new.png": png(801)})
    pushed.upload(pack.data)
    moved = pushed.get("versions/v1/entries/at/", path="2/003.png")
    old_pack = make_pack(
        class_files()
        | {"unlabelled/x.png": png(901), "unlabelled/y.png": png(902), "README.txt": b"hello"}
    )
    row = next(row for row in put_rows(old_pack) if row["path"] == "2/003.png")
    rows = [*put_rows(pack), delete_row("README.txt"), delete_row("2/003.png")]

    pushed.commit([*rows, {**row, "path": "2/moved.png"}])

    diff = pushed.get("diff/", **{"from": "v1", "to": "v2"})
    assert diff["summary"] == {
        "added": 1, "removed": 1, "changed": 1, "renamed": 1, "labels_changed": 0,
    }  # fmt: skip
    kinds = {row["path"]: row["kind"] for row in diff["results"]}
    assert kinds == {
        "0/000.png": "changed",
        "2/moved.png": "renamed",
        "README.txt": "removed",
        "new.png": "added",
    }
    renamed = next(row for row in diff["results"] if row["kind"] == "renamed")
    assert renamed["old_path"] == "2/003.png"
    assert renamed["new"]["digest"] == renamed["old"]["digest"] == moved["digest"]


def test_a_diff_comes_in_pages_and_by_kind(pushed: Pusher) -> None:
    pushed.push({f"new/{n}.png": png(700 + n) for n in range(5)})

    first = pushed.get("diff/", **{"from": "v1", "to": "v2", "kind": "added", "limit": 3})
    second = pushed.get(
        "diff/", **{"from": "v1", "to": "v2", "kind": "added", "limit": 3, "cursor": first["next"]}
    )

    found = [row["path"] for row in first["results"] + second["results"]]
    assert found == [f"new/{n}.png" for n in range(5)]
    assert second["next"] is None


def test_versions_are_found_by_number_branch_tag_and_commit(pushed: Pusher) -> None:
    commit = pushed.get("versions/v1/")["commit"]
    pushed.post("tags/", {"name": "golden", "at": "v1"})

    for ref in ("v1", "main", "golden", commit, commit[:8]):
        assert pushed.get(f"versions/{ref}/")["commit"] == commit
    answer = pushed.client.get(f"{pushed.base}versions/v9/")
    assert (answer.status_code, answer.json()["code"]) == (404, "ref_not_found")


def test_a_dataset_without_a_version_says_so(pusher: Pusher) -> None:
    answer = pusher.client.get(f"{pusher.base}versions/main/").json()

    assert answer["code"] == "branch_empty"
    assert answer["detail"] == "The branch main of digits has no version yet."
    assert "Push a folder" in answer["action"]


def test_a_branch_that_does_not_exist_names_where_to_look(pushed: Pusher) -> None:
    answer = pushed.client.get(f"{pushed.base}versions/", {"branch": "nothing"}).json()

    assert answer["code"] == "ref_not_found"
    assert "branches" in answer["action"]


def test_a_branch_has_its_own_history_and_no_numbers(pushed: Pusher) -> None:
    pushed.post("branches/", {"name": "experiment", "at": "v1"})

    version = pushed.push({"more.png": png(5)}, branch="experiment")

    assert version["number"] is None
    assert [v["ref"] for v in pushed.get("versions/")["results"]] == ["v1"]
    branch = pushed.get("versions/", branch="experiment")["results"]
    assert branch[0]["commit"] == version["commit"]
    assert len(branch) == 2


def test_a_branch_cannot_be_called_like_a_version(pushed: Pusher) -> None:
    answer = pushed.client.post(f"{pushed.base}branches/", {"name": "v7", "at": "v1"})

    assert (answer.status_code, answer.json()["code"]) == (409, "ref_name_taken")


def test_the_dataset_list_shows_the_head_with_a_fixed_number_of_queries(
    pushed: Pusher, django_assert_max_num_queries: Any
) -> None:
    address = f"/api/v1/projects/{pushed.project.slug}/datasets/"
    for n in range(5):
        pushed.post(address, {"name": f"other{n}"})

    with django_assert_max_num_queries(8):
        rows = pushed.client.get(address).json()["results"]

    assert len(rows) == 6
    digits = next(row for row in rows if row["name"] == "digits")
    assert (digits["latest"]["ref"], digits["versions_count"]) == ("v1", 1)


def test_datasets_are_found_by_a_part_of_their_name(pushed: Pusher) -> None:
    address = f"/api/v1/projects/{pushed.project.slug}/datasets/"
    pushed.post(address, {"name": "letters"})
    found = pushed.client.get(address, {"q": "LETT", "limit": "5"}).json()["results"]
    assert [row["name"] for row in found] == ["letters"]
    assert pushed.client.get(address, {"q": "none"}).json()["results"] == []


def test_strangers_see_nothing(pushed: Pusher) -> None:
    from tests.factories.accounts import make_user

    pushed.client.force_authenticate(make_user())

    for path in ("", "versions/", "versions/v1/entries/", "versions/v1/manifest/", "branches/"):
        assert pushed.client.get(pushed.base + path).status_code == 404


def test_a_diff_is_narrowed_to_a_folder_and_to_a_label_that_became_another(pushed: Pusher) -> None:
    edits = [
        {"op": "label", "paths": ["0/000.png", "0/001.png"], "value": "1"},
        {"op": "label", "paths": ["1/000.png"], "value": ""},
        {"op": "remove", "paths": ["2/003.png"]},
    ]
    pushed.post("edits/", {"branch": "main", "edits": edits, "message": "relabelled"})
    pair = {"from": "v1", "to": "v2"}

    found = pushed.get("diff/", **pair)
    assert found["label_changes"] == [
        {"old": "0", "new": "1", "count": 2}, {"old": "1", "new": None, "count": 1}
    ]  # fmt: skip
    assert found["total"] == len(found["results"]) == 4
    narrowed = pushed.get("diff/", **pair, old_label="0", new_label="1", offset=1, limit=1)
    assert [row["path"] for row in narrowed["results"]] == ["0/001.png"]
    assert (narrowed["total"], narrowed["next"]) == (2, None)
    assert pushed.get("diff/", **pair, old_label="1", new_label="")["total"] == 1
    below = pushed.get("diff/", **pair, prefix="2/")
    assert [row["kind"] for row in below["results"]] == ["removed"]
    # The counts of the whole comparison stay.
    assert below["summary"]["labels_changed"] == 3
    assert pushed.get("diff/", **pair, offset=99)["results"] == []
    for wrong in ("&old_label=0", "&offset=x", "&offset=1&cursor=y"):
        answer = pushed.client.get(f"{pushed.base}diff/?from=v1&to=v2{wrong}")
        assert answer.status_code == 400
