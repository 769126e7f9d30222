"""Files that a version has already, and uploads of browsers, which send only new ones."""

from __future__ import annotations

import pytest

from atom.datasets.models import Pack
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, make_pack, new_pusher, png, put_rows

STORED = "versions/main/stored-files/"


@pytest.fixture
def pushed(committing_db: None) -> Pusher:
    """Three classes of four images."""
    return made_once(push_classes)


def push_classes() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files())
    return pusher


def test_of_the_paths_asked_for_those_that_are_there_are_named(pushed: Pusher) -> None:
    wanted = ["2/003.png", "0/000.png", "0/000", "9/000.png", "0/000.png"]

    found = pushed.post(STORED, {"paths": wanted})["results"]

    member = make_pack(class_files()).members[0]
    assert [row["path"] for row in found] == ["0/000.png", "2/003.png"]
    assert found[0] == {
        "path": "0/000.png",
        "size_bytes": member.size,
        "digest": member.digest.hex(),
        "is_damaged": False,
        "attributes": None,
    }


def test_a_folder_is_listed_in_pages_and_nothing_beside_it(pushed: Pusher) -> None:
    first = pushed.get(STORED, prefix="1/", limit=3)
    second = pushed.get(STORED, prefix="1/", limit=3, cursor=first["next"])

    paths = [row["path"] for row in (*first["results"], *second["results"])]
    assert paths == [f"1/{number:03d}.png" for number in range(4)]
    assert second["next"] is None
    assert len(pushed.get(STORED)["results"]) == 12
    assert pushed.get(STORED, prefix="nothing/")["results"] == []


def test_a_file_in_a_quarantined_pack_is_called_damaged(pushed: Pusher) -> None:
    Pack.objects.update(state="quarantined")

    (row,) = pushed.post(STORED, {"paths": ["1/000.png"]})["results"]

    assert row["is_damaged"]


@pytest.mark.parametrize("paths", [[], "a.png", [1.5, {}], ["a"] * 2001])
def test_a_list_of_paths_that_is_none_is_refused(pushed: Pusher, paths: object) -> None:
    answer = pushed.client.post(pushed.base + STORED, {"paths": paths})

    assert answer.status_code == 400


def test_unknown_parameters_and_foreign_cursors_are_refused(pushed: Pusher) -> None:
    for query in ("?folder=1/", "?limit=0", "?limit=2001", "?cursor=x"):
        assert pushed.client.get(pushed.base + STORED + query).status_code == 400, query


def test_parts_can_go_through_the_portal(pushed: Pusher) -> None:
    data = make_pack({"new.png": png(77)}).data
    upload = pushed.begin(data)
    parts = f"uploads/{upload['id']}/parts/"

    urls = pushed.post(parts, {"numbers": [1], "through": "portal"})["urls"]
    refused = pushed.client.post(pushed.base + parts, {"numbers": [2], "through": "portal"})

    assert urls["1"].startswith("/media/parts/")
    assert refused.json()["code"] == "upload_incomplete"


def test_a_file_without_a_media_type_gets_the_one_of_its_name(pushed: Pusher) -> None:
    pack = make_pack({"a.webp": b"no image", "b": b"?"})
    pushed.stage(pack.data)

    request = pushed.commit([{**row, "media_type": None} for row in put_rows(pack)])

    assert request["state"] == "published", request
    rows = {row["path"]: row for row in pushed.get("versions/main/entries/")["results"]}
    assert rows["a.webp"]["media_type"] == "image/webp"
    assert rows["b"]["media_type"] == "application/octet-stream"
