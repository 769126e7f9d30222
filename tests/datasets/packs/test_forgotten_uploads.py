"""A store that lost its power knows nothing of the parts that it had taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

import pytest
from blake3 import blake3

from atom.core import storage
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from atom_sdk.client.progress import Silent
from atom_sdk.client.upload import UploadTarget, upload_parts, wait_verified
from tests.datasets.pushing import Pusher, make_pack, png

PACK = make_pack({"a.png": png(1)}).data


def forget() -> None:
    """Have the store forget the parts of every upload that is open."""
    for upload in storage.objects().multipart_list(""):
        storage.objects().multipart_abort(upload.key, upload.upload_id)


@pytest.fixture
def by_parts(settings: Any) -> None:
    """Have the client send parts: one PUT leaves nothing that a store could forget."""
    settings.ATOM_DIRECT_UPLOADS = False


class Parts:
    """The bytes of a pack; the next of the moments happens before each part is read."""

    size_bytes = len(PACK)

    def __init__(self, moments: Iterable[Callable[[], None]]) -> None:
        self._moments = iter(moments)

    def read(self, start: int, length: int) -> bytes:
        next(self._moments)()
        return PACK[start : start + length]

    def has_same(self, start: int, part: dict[str, Any]) -> bool:
        return False


def test_an_upload_that_the_store_forgot_is_begun_anew(pusher: Pusher) -> None:
    begun = pusher.begin(PACK)
    pusher.send_part(begun, 1, PACK)
    forget()

    again = pusher.begin(PACK)
    assert (again["id"], again["state"], again["parts_done"]) == (begun["id"], "open", [])
    part = pusher.send_part(again, 1, PACK)
    pusher.post(f"uploads/{again['id']}/complete/", {"parts": [part]})
    assert pusher.get(f"uploads/{again['id']}/")["state"] == "verified"


@pytest.mark.usefixtures("by_parts")
def test_a_push_goes_on_though_the_store_forgets_what_it_was_sent(
    client: Client, pusher: Pusher
) -> None:
    moments = [forget, forget, lambda: None]
    target = UploadTarget(client.http, pusher.base.removeprefix("/api/v1/"), Silent())

    sent = upload_parts(target, Parts(moments), "pack", blake3(PACK).hexdigest())
    wait_verified(target, sent)


@pytest.mark.usefixtures("by_parts")
def test_a_store_that_always_forgets_is_told(client: Client, pusher: Pusher) -> None:
    target = UploadTarget(client.http, pusher.base.removeprefix("/api/v1/"), Silent())
    with pytest.raises(ApiError, match="404"):
        upload_parts(target, Parts(repeat(forget)), "pack", blake3(PACK).hexdigest())
