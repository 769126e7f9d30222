"""Packs that are found damaged: named, never served, repaired by pushing again."""

from __future__ import annotations

from typing import Any

from atom.core import storage
from atom.datasets.packs.actions.quarantine import quarantine_pack
from tests.datasets.pushing import (
    Pusher,
    class_files,
    corrupted,
    make_pack,
    png,
)


def test_a_quarantined_pack_is_in_no_manifest(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())

    quarantine_pack(pusher.project, pack.digest, "found damaged")

    manifest = pusher.client.get(f"{pusher.base}versions/v1/manifest/")
    urls = pusher.client.post(f"{pusher.base}versions/v1/pack-urls/", {"packs": [pack.digest]})
    for answer in (manifest, urls):
        assert (answer.status_code, answer.json()["code"]) == (409, "pack_quarantined")
        assert answer.json()["pack"] == pack.digest
    prefix = storage.project_prefix(pusher.project)
    assert not storage.objects().exists(f"{prefix}packs/{pack.digest}.tar")


def test_a_push_is_told_which_packs_are_quarantined(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    quarantine_pack(pusher.project, pack.digest, "found damaged")

    manifest = pusher.get("versions/v1/manifest/", with_quarantined="true")

    assert manifest["quarantined_packs"] == [pack.digest]


def test_a_damaged_pack_is_listed_with_its_push_and_what_to_do(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    assert pusher.get("quarantined-packs/")["results"] == []

    quarantine_pack(pusher.project, pack.digest, "found damaged")

    (listed,) = pusher.get("quarantined-packs/")["results"]
    assert (listed["digest"], listed["reason"]) == (pack.digest, "found damaged")
    assert listed["found_in"] == "store"
    assert listed["push"]["created_by"]["username"] == pusher.user.username
    assert listed["files_count"] == len(class_files())
    assert listed["paths"] == sorted(class_files())[:3]
    assert "Push" in listed["action"]
    assert pusher.upload(pack.data)["state"] == "verified"
    assert pusher.get("quarantined-packs/")["results"] == []


def test_a_pack_refused_on_its_way_in_is_listed_as_such(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(corrupted(pack, 4096), digest=pack.digest)

    (listed,) = pusher.get("quarantined-packs/")["results"]

    assert (listed["digest"], listed["found_in"]) == (pack.digest, "upload")
    assert (listed["files_count"], listed["paths"]) == (0, [])
    assert listed["reason"]


def test_quarantined_packs_of_another_dataset_are_not_listed(pusher: Pusher) -> None:
    pusher.push(class_files())
    other = Pusher(pusher.project, pusher.user, "other").create()
    pack = make_pack({"a.png": png(77)})
    other.upload(corrupted(pack, 4096), digest=pack.digest)

    assert pusher.get("quarantined-packs/")["results"] == []
    assert len(other.get("quarantined-packs/")["results"]) == 1


def test_the_list_of_quarantined_packs_asks_the_same_questions_for_any_length(
    pusher: Pusher, django_assert_max_num_queries: Any
) -> None:
    for seed in range(6):
        pack = make_pack({"a.png": png(seed)})
        pusher.upload(corrupted(pack, 4096), digest=pack.digest)

    with django_assert_max_num_queries(8):
        assert len(pusher.get("quarantined-packs/")["results"]) == 6


def test_pushing_the_files_again_repairs_a_quarantined_pack(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    quarantine_pack(pusher.project, pack.digest, "found damaged")

    assert pusher.upload(pack.data)["state"] == "verified"

    assert pusher.get("versions/v1/manifest/")["commit"]
