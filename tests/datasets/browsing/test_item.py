"""One file of a version: the history of its path, and what a picture says of itself."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from rest_framework.test import APIClient

from atom.datasets.models import Version
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, delete_row, make_pack, new_pusher, png, put_rows
from tests.factories.accounts import make_user

HISTORY = "versions/main/entries/history/"
PICTURE = "versions/main/entries/picture/"


@pytest.fixture
def pushed(committing_db: None) -> Pusher:
    """Five versions: a file is added, changed, left alone, removed, and comes back."""
    return made_once(push_history)


def push_history() -> Pusher:
    pusher = new_pusher()
    pusher.push({"cats/1.png": png(1), "other.txt": b"1"}, message="first", labels_from="folder")
    pusher.push({"cats/1.png": png(2)}, message="second", labels_from="folder")
    pusher.push({"other.txt": b"2"}, message="elsewhere", labels_from="folder")
    pusher.commit([delete_row("cats/1.png")], message="gone")
    pusher.push({"cats/1.png": png(2)}, message="back", labels_from="folder")
    return pusher


def test_a_path_tells_when_it_was_added_changed_and_removed(pushed: Pusher) -> None:
    found = pushed.get(HISTORY, path="cats/1.png")

    said = [(row["version"]["message"], row["kinds"][0]) for row in found["results"]]
    wanted = [("back", "added"), ("gone", "removed"), ("second", "changed"), ("first", "added")]
    assert said == wanted
    changed = found["results"][2]
    assert changed["before"]["digest"] != changed["after"]["digest"]
    assert changed["version"]["author"]["username"] == pushed.user.username
    assert (found["next"], found["ends_at"]) == (None, None)


def test_a_long_history_comes_in_pages(pushed: Pusher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atom.datasets.browsing.path_history.VERSIONS_AT_ONCE", 2)
    messages, cursor = [], None
    while cursor != "":
        page = pushed.get(HISTORY, path="cats/1.png", **({"cursor": cursor} if cursor else {}))
        messages += [row["version"]["message"] for row in page["results"]]
        cursor = page["next"] or ""

    assert messages == ["back", "gone", "second", "first"]


def test_a_path_that_never_was_has_no_history(pushed: Pusher) -> None:
    assert pushed.get(HISTORY, path="nothing")["results"] == []
    assert pushed.client.get(pushed.base + HISTORY).status_code == 400
    assert pushed.client.get(pushed.base + HISTORY + "?path=a&cursor=x").status_code == 400


def test_history_ends_where_retention_let_go(pushed: Pusher) -> None:
    Version.objects.filter(number=1).update(state="expired", expired_at="2026-01-01T00:00Z")

    found = pushed.get(HISTORY, path="cats/1.png")

    assert found["ends_at"] == "v1"
    assert [row["version"]["message"] for row in found["results"]] == ["back", "gone"]


def test_a_new_label_is_told_with_what_it_was(pushed: Pusher) -> None:
    pack = make_pack({"cats/1.png": png(2)})
    pushed.stage(pack.data)
    pushed.commit([{**row, "attributes": '{"camera": "A"}'} for row in put_rows(pack)])

    (newest, *_) = pushed.get(HISTORY, path="cats/1.png")["results"]

    assert "attributes" in newest["kinds"]
    assert (newest["before"]["attributes"], newest["after"]["attributes"]) == ({}, {"camera": "A"})


def test_a_picture_says_its_size_and_its_exif_in_bounds(pushed: Pusher) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x9286] = "Maker\x00\x07 Inc", "M" * 5000, b"\x00\x01"
    out = io.BytesIO()
    Image.new("RGB", (40, 30)).save(out, "JPEG", exif=exif)
    pushed.push({"photo.jpg": out.getvalue(), "broken.jpg": b"\xff\xd8nothing"})

    picture = pushed.get(PICTURE, path="photo.jpg")["picture"]

    assert (picture["width"], picture["height"], picture["format"]) == (40, 30, "JPEG")
    assert picture["exif"] == {"Make": "Maker Inc", "Model": "M" * 200}
    broken = pushed.get(PICTURE, path="broken.jpg")
    assert broken["picture"] is None
    assert broken["damage"]
    assert pushed.get(PICTURE, path="photo.jpg")["damage"] is None
    assert pushed.get(PICTURE, path="other.txt")["picture"] is None
    missing = pushed.client.get(pushed.base + PICTURE, {"path": "nothing"})
    assert (missing.status_code, missing.json()["code"]) == (404, "entry_not_found")


PREVIEW = "versions/main/entries/preview/"


def test_a_parquet_file_shows_its_columns_and_first_rows(committing_db: None) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": range(300), "word": ["a"] * 300}), out)
    pusher = new_pusher()
    pusher.push({"t/rows.parquet": out.getvalue(), "t/cut.parquet": out.getvalue()[:-9]})

    found = pusher.get(PREVIEW, path="t/rows.parquet")
    assert (found["reason"], found["truncated"]) == ("", True)
    table = found["table"]
    assert [(one["name"], one["type"], one["declared"]) for one in table["columns"]] == [
        ("id", "integer", "int64"), ("word", "text", "string"),
    ]  # fmt: skip
    assert (table["row_count"], len(table["rows"]), table["rows"][99]) == (300, 100, ["99", "a"])

    cut = pusher.get(PREVIEW, path="t/cut.parquet")
    assert (cut["reason"], cut["table"]) == ("cut", None)


def test_other_files_have_no_preview_and_strangers_see_none(pushed: Pusher) -> None:
    assert pushed.get(PREVIEW, path="other.txt") == {
        "table": None, "reason": "unknown", "truncated": False
    }  # fmt: skip
    assert pushed.client.get(pushed.base + PREVIEW + "?path=nothing").status_code == 404
    stranger = APIClient()
    stranger.force_authenticate(make_user())
    assert stranger.get(pushed.base + PREVIEW + "?path=other.txt").status_code == 404
