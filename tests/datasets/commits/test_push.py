"""Pushes over the API: packs become versions."""

from __future__ import annotations

import pytest

from atom.core import storage
from atom.datasets.models import Pack, Version
from tests.datasets.pushing import (
    Pusher,
    changes_file,
    class_files,
    delete_row,
    make_pack,
    png,
    put_rows,
)


def test_a_push_becomes_version_one(pusher: Pusher) -> None:
    files = class_files()
    pack = make_pack(files)

    assert pusher.upload(pack.data)["state"] == "verified"
    changes = pusher.upload(changes_file(put_rows(pack)), "changes")
    asked = {"changes_upload": changes["id"], "expected_head": None, "message": "first"}
    request = pusher.get(f"commits/{pusher.post('commits/', asked)['id']}/")

    version = request["version"]
    assert request["state"] == "published"
    [branch] = pusher.get("branches/")["results"]
    assert branch["head"]["commit"] == version["commit"]
    assert version["ref"] == "v1"
    assert version["file_count"] == len(files)
    assert version["size_bytes"] == sum(map(len, files.values()))
    assert version["added"] == len(files)
    assert version["message"] == "first"
    assert version["parents"] == []
    assert version["author"]["username"] == pusher.user.username


def test_the_same_push_again_changes_nothing(pusher: Pusher) -> None:
    files = class_files()
    pusher.push(files)
    pack = make_pack(files)

    assert pusher.begin(pack.data)["state"] == "verified"
    request = pusher.commit(put_rows(pack))

    assert (request["state"], request["unchanged"]) == ("published", True)
    assert request["version"]["ref"] == "v1"
    assert Version.objects.count() == 1


def test_a_second_version_counts_what_changed(pusher: Pusher) -> None:
    files = class_files()
    first = pusher.push(files)
    pack = make_pack({"0/000.png": png(77), "new.png": png(78)})
    pusher.upload(pack.data)

    request = pusher.commit([*put_rows(pack), delete_row("1/001.png")])

    version = request["version"]
    assert (version["added"], version["removed"], version["changed"]) == (1, 1, 1)
    assert version["ref"] == "v2"
    assert version["parents"] == [first["commit"]]
    assert version["file_count"] == len(files)


def test_zero_files_is_an_empty_commit(pusher: Pusher) -> None:
    request = pusher.commit([])

    assert request["state"] == "failed"
    assert request["error"]["code"] == "empty_commit"
    assert pusher.head() is None


def test_deleting_every_file_is_an_empty_commit(pusher: Pusher) -> None:
    pusher.push({"a.png": png()})

    request = pusher.commit([delete_row("a.png")])

    assert request["error"]["code"] == "empty_commit"


def test_an_entry_that_is_not_in_its_pack_is_refused(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1), "b.png": png(2)})
    pusher.upload(pack.data)
    rows = put_rows(pack)
    rows[1] = {**rows[1], "digest": rows[0]["digest"]}

    request = pusher.commit(rows)

    assert request["state"] == "failed"
    assert request["error"]["code"] == "entry_not_in_pack"
    assert "b.png" in request["error"]["detail"]


def test_an_offset_outside_the_pack_is_refused(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1)})
    pusher.upload(pack.data)

    request = pusher.commit([{**put_rows(pack)[0], "offset": 10**12}])

    assert request["error"]["code"] == "entry_not_in_pack"


def test_another_projects_pack_cannot_be_committed(pusher: Pusher) -> None:
    from tests.factories.accounts import make_member, make_project

    secret = make_pack({"secret.png": png(9)})
    other = make_project()
    owner = Pusher(other, make_member(other, "researcher")).create()
    assert owner.upload(secret.data)["state"] == "verified"

    request = pusher.commit(put_rows(secret))

    assert request["state"] == "failed"
    assert request["error"]["code"] == "pack_not_verified"


def test_verified_packs_lie_under_their_digest_and_staging_is_empty(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1)})

    upload = pusher.upload(pack.data)

    prefix = storage.project_prefix(pusher.project)
    assert storage.objects().get(f"{prefix}packs/{pack.digest}.tar") == pack.data
    assert not storage.objects().exists(f"staging/{upload['id']}")
    assert Pack.objects.get(digest=pack.digest).state == "verified"


ODD_PATHS = [
    "ünï/ço dé.png",
    "空 白/图片 #1?.png",
    "quote'\"/back\\slash.png",
    "%2e%2e/percent%20.png",
    "emoji/🙂&=+;.png",
    "tab\tand\nnewline/x.png",
    "-dash/.hidden.png",
    "e\u0301/decomposed.png",
    "é/composed.png",
]


def test_odd_paths_survive_push_browse_and_lookup(pusher: Pusher) -> None:
    files = {path: png(index) for index, path in enumerate(ODD_PATHS)}

    version = pusher.push(files, labels_from="folder")

    base = f"versions/{version['ref']}/"
    page = pusher.get(f"{base}entries/", limit=200)
    assert {row["path"] for row in page["results"]} == set(ODD_PATHS)
    for path in ODD_PATHS:
        row = pusher.get(f"{base}entries/at/", path=path)
        assert (row["path"], row["label"]) == (path, path.split("/")[-2])


@pytest.mark.parametrize("path", ["/etc/passwd", "a/../b", "a//b", "", "a\0b", "./a"])
def test_paths_that_no_dataset_can_hold_are_refused(pusher: Pusher, path: str) -> None:
    pack = make_pack({"a.png": png(1)})
    pusher.upload(pack.data)

    request = pusher.commit([{**put_rows(pack)[0], "path": path}])

    assert request["state"] == "failed"
    assert request["error"]["code"] == "changes_unreadable"


def test_a_changes_file_that_is_no_table_is_refused(pusher: Pusher) -> None:
    changes = pusher.upload(b"not a table at all", "changes")

    request = pusher.post("commits/", {"changes_upload": changes["id"]})

    assert pusher.get(f"commits/{request['id']}/")["error"]["code"] == "changes_unreadable"
