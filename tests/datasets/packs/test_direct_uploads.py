"""Packs go straight to their own keys, and nobody replaces what lies there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from blake3 import blake3

from atom.core import storage
from atom.core.storage import ObjectExists
from atom.datasets.integrity.rebuild import verified_packs
from atom.datasets.keys import pack_index_key, pack_key, staging_key
from atom.datasets.models import Dataset, Pack, Upload
from atom.datasets.packs.actions.uploads import UploadRequest, start_upload
from atom.datasets.packs.actions.verification import verify_upload
from tests.datasets.pushing import Pusher, corrupted, make_pack, png, put_rows

PACK = make_pack({"a.png": png(1), "b.png": png(2)})
BAD = corrupted(PACK, 4096)
ONLY_NEW = {"If-None-Match": "*"}


def begin_single(pusher: Pusher, data: bytes = PACK.data) -> dict[str, Any]:
    body = {"kind": "pack", "digest": PACK.digest, "size_bytes": len(data), "single": True}
    return pusher.post("uploads/", body)


def address_of(pusher: Pusher, upload: dict[str, Any]) -> str:
    """Return where the one PUT of an upload goes; it needs the headers that are told."""
    answer = pusher.post(f"uploads/{upload['id']}/parts/", {"numbers": [1]})
    assert answer["headers"] == ONLY_NEW
    return str(answer["urls"]["1"])


def complete(pusher: Pusher, upload: dict[str, Any]) -> dict[str, Any]:
    pusher.post(f"uploads/{upload['id']}/complete/", {"parts": []})
    return pusher.get(f"uploads/{upload['id']}/")


def key(pusher: Pusher) -> str:
    return storage.project_prefix(pusher.project) + pack_key(PACK.digest)


def index_key(pusher: Pusher) -> str:
    return storage.project_prefix(pusher.project) + pack_index_key(PACK.digest)


def other_dataset(pusher: Pusher) -> Dataset:
    return Dataset.objects.create(project=pusher.project, name="other")


def begin_elsewhere(pusher: Pusher) -> Upload:
    """Begin the upload of the same pack into another dataset of the project."""
    request = UploadRequest("pack", PACK.digest, len(PACK.data), single=True)
    return start_upload(other_dataset(pusher), request, pusher.user)


def verified_with(upload: Upload, data: bytes) -> Upload:
    """Have `data` verified as what arrived for an upload."""
    storage.objects().put(upload.key, data)
    Upload.objects.filter(pk=upload.pk).update(state="uploaded")
    return verify_upload(upload.pk)


def test_a_pack_goes_to_its_own_key_by_one_put(pusher: Pusher) -> None:
    upload = begin_single(pusher)

    httpx.put(address_of(pusher, upload), content=PACK.data, headers=ONLY_NEW).raise_for_status()

    assert Upload.objects.get(pk=upload["id"]).key == key(pusher)
    assert complete(pusher, upload)["state"] == "verified"
    assert storage.objects().get(key(pusher)) == PACK.data
    assert not storage.objects().exists(staging_key(upload["id"]))
    assert pusher.commit(put_rows(PACK))["state"] == "published"


def test_an_old_address_cannot_replace_a_verified_pack(pusher: Pusher) -> None:
    upload = begin_single(pusher)
    address = address_of(pusher, upload)
    httpx.put(address, content=PACK.data, headers=ONLY_NEW).raise_for_status()
    assert complete(pusher, upload)["state"] == "verified"

    assert httpx.put(address, content=BAD, headers=ONLY_NEW).status_code == 412
    # The condition is part of the signature: without it the address is good for nothing.
    assert httpx.put(address, content=BAD).status_code == 403
    assert storage.objects().get(key(pusher)) == PACK.data


def test_an_old_part_cannot_become_a_verified_pack(pusher: Pusher) -> None:
    upload = pusher.begin(PACK.data)
    parts = pusher.post(f"uploads/{upload['id']}/parts/", {"numbers": [1]})
    assert parts["headers"] == {}
    pusher.send_part(upload, 1, PACK.data)
    row = Upload.objects.get(pk=upload["id"])
    arrived = storage.objects().multipart_parts(row.key, row.multipart_id)
    sent = [{"n": part.number, "etag": part.etag} for part in arrived]
    pusher.post(f"uploads/{upload['id']}/complete/", {"parts": sent})
    assert pusher.get(f"uploads/{upload['id']}/")["state"] == "verified"

    # A store may take the part of a finished upload, but only the server joins parts.
    late = httpx.put(parts["urls"]["1"], content=BAD)
    with pytest.raises(ObjectExists):
        storage.objects().multipart_complete(
            row.key, row.multipart_id, [(1, late.headers.get("etag", "x"))], only_new=True
        )
    assert storage.objects().get(key(pusher)) == PACK.data


def test_bytes_that_lie_are_removed_before_the_digest_may_be_sent_again(pusher: Pusher) -> None:
    upload = begin_single(pusher)
    httpx.put(address_of(pusher, upload), content=BAD, headers=ONLY_NEW).raise_for_status()

    assert complete(pusher, upload)["state"] == "quarantined"
    assert not storage.objects().exists(key(pusher))
    assert not storage.objects().exists(index_key(pusher))

    again = begin_single(pusher)
    assert Upload.objects.get(pk=again["id"]).key == key(pusher)
    httpx.put(address_of(pusher, again), content=PACK.data, headers=ONLY_NEW).raise_for_status()
    assert complete(pusher, again)["state"] == "verified"


def test_what_is_not_verified_cannot_be_committed_or_rebuilt(pusher: Pusher) -> None:
    upload = begin_single(pusher)
    storage.objects().put(key(pusher), PACK.data)

    assert pusher.commit(put_rows(PACK))["error"]["code"] == "pack_not_verified"
    listing = storage.objects().list_prefix(storage.project_prefix(pusher.project) + "packs/")
    assert list(verified_packs(listing)) == []

    assert complete(pusher, upload)["state"] == "verified"
    listing = storage.objects().list_prefix(storage.project_prefix(pusher.project) + "packs/")
    assert [item.key for item in verified_packs(listing)] == [key(pusher)]


def test_a_second_upload_of_a_pack_goes_by_staging(pusher: Pusher) -> None:
    direct = Upload.objects.get(pk=begin_single(pusher)["id"])
    staged = begin_elsewhere(pusher)
    assert (direct.key, staged.key) == (key(pusher), staging_key(staged.pk))

    # The first one lies: what the second brings is good, in either order.
    assert verified_with(direct, BAD).state == "quarantined"
    assert verified_with(staged, PACK.data).state == "verified"
    assert storage.objects().get(key(pusher)) == PACK.data


def test_a_lie_does_not_take_a_good_pack_away(pusher: Pusher) -> None:
    direct = Upload.objects.get(pk=begin_single(pusher)["id"])
    staged = begin_elsewhere(pusher)
    assert verified_with(staged, PACK.data).state == "verified"
    Upload.objects.filter(pk=direct.pk).update(state="verifying", tries=10_000)
    Upload.objects.filter(pk=direct.pk).update(tried_since="2020-01-01T00:00:00Z")

    # Given up after many tries, it is quarantined without a look at the key.
    assert verify_upload(direct.pk).state == "quarantined"
    assert storage.objects().get(key(pusher)) == PACK.data
    assert Pack.objects.get(digest=PACK.digest).state == "verified"


def test_parts_whose_pack_came_by_another_way_are_verified_from_there(pusher: Pusher) -> None:
    upload = pusher.begin(PACK.data)
    part = pusher.send_part(upload, 1, PACK.data)
    assert verified_with(begin_elsewhere(pusher), PACK.data).state == "verified"

    pusher.post(f"uploads/{upload['id']}/complete/", {"parts": [part]})

    assert pusher.get(f"uploads/{upload['id']}/")["state"] == "verified"
    assert list(storage.objects().multipart_list(key(pusher))) == []


def test_a_key_that_holds_something_is_written_by_a_verified_copy_only(pusher: Pusher) -> None:
    storage.objects().put(key(pusher), b"left by a worker that died")

    upload = begin_single(pusher)

    row = Upload.objects.get(pk=upload["id"])
    assert row.key == staging_key(row.pk)
    assert verified_with(row, PACK.data).state == "verified"
    assert storage.objects().get(key(pusher)) == PACK.data


def test_an_index_that_was_left_does_not_vouch_for_new_bytes(pusher: Pusher) -> None:
    storage.objects().put(index_key(pusher), b"of a pack that was damaged")

    row = Upload.objects.get(pk=begin_single(pusher)["id"])

    assert row.key == staging_key(row.pk)


def test_a_client_of_parts_goes_on_with_an_upload_of_one_put(pusher: Pusher) -> None:
    single = begin_single(pusher)

    assert pusher.begin(PACK.data)["id"] == single["id"]
    part = pusher.send_part(single, 1, PACK.data)
    pusher.post(f"uploads/{single['id']}/complete/", {"parts": [part]})

    assert pusher.get(f"uploads/{single['id']}/")["state"] == "verified"


def test_a_browser_sends_parts_of_an_upload_that_began_as_one_put(pusher: Pusher) -> None:
    single = begin_single(pusher)

    body = {"numbers": [1], "through": "portal"}
    answer = pusher.post(f"uploads/{single['id']}/parts/", body)

    assert answer["urls"]["1"].startswith("/media/parts/")
    assert Upload.objects.get(pk=single["id"]).multipart_id


def test_one_put_whose_answer_was_lost_is_found_when_the_push_begins_anew(pusher: Pusher) -> None:
    first = begin_single(pusher)
    httpx.put(address_of(pusher, first), content=PACK.data, headers=ONLY_NEW).raise_for_status()

    again = begin_single(pusher)

    assert (again["id"], again["state"]) == (first["id"], "verified")


def test_one_put_that_did_not_arrive_is_told(pusher: Pusher) -> None:
    upload = begin_single(pusher)

    answer = pusher.client.post(
        f"{pusher.base}uploads/{upload['id']}/complete/", {"parts": []}, format="json"
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "upload_incomplete")


def test_changes_and_stores_without_conditions_go_by_staging(pusher: Pusher, settings: Any) -> None:
    changes = b"changes"
    body = {"kind": "changes", "digest": blake3(changes).hexdigest(), "size_bytes": 7}
    sent = pusher.post("uploads/", {**body, "single": True})
    assert Upload.objects.get(pk=sent["id"]).key == staging_key(sent["id"])

    settings.ATOM_DIRECT_UPLOADS = False
    assert pusher.upload(PACK.data)["state"] == "verified"
    row = Upload.objects.get(digest=PACK.digest)
    assert row.key == staging_key(row.pk)
    assert storage.objects().get(key(pusher)) == PACK.data
