"""Files that stay at their source, through every way of reading a version from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atom.datasets.models import Source
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import media_server
from atom_sdk.client import Client
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError
from atom_sdk.fs import AtomFileSystem
from atom_sdk.mount import MountOptions, unmount
from atom_sdk.mount.names import HARD_LINKS
from atom_sdk.readers.streaming import StreamingDataset
from tests.datasets.buckets import Bucket
from tests.datasets.gateways import Gateway
from tests.datasets.pushing import Pusher, make_pack, png

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("gateway")]
PUSHED = {"mine/a.txt": b"a", "mine/b.txt": b"bb"}
STAYS = {"far/c d+ü.txt": b"ccc", "far/e.png": png(5), "far/empty": b"", "z.txt": b"zzzz"}


@pytest.fixture
def bucket(pusher: Pusher, settings: Any) -> Bucket:
    """A bucket whose files stand beside the pushed ones in `digits`, as version 2."""
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    media_server.cache_clear()
    pusher.push(PUSHED)
    bucket = Bucket()
    bucket.put(STAYS)
    pusher.post(f"/api/v1/projects/{pusher.project.slug}/sources/", bucket.body())
    source = Source.objects.get()
    scan = scans.request_scan(source, source.created_by)
    scan.refresh_from_db()
    assert scan.state == "done", scan.error_detail
    return bucket


def test_a_pack_before_one_of_a_source_is_streamed(
    client: Client, bucket: Bucket, gateway: Gateway, pusher: Pusher
) -> None:
    """The addresses of packs are asked for together with those of the packs that follow."""
    first = next(
        files for n in range(5000)
        if make_pack(files := {"n": str(n).encode()}).digest.startswith("00")
    )  # fmt: skip
    pusher.push(first)
    streamed = client.datasets.open("digits@main", stream=True)
    assert streamed.index.packs[0].hex() == make_pack(first).digest
    assert {one.path: bytes(one.data) for one in streamed} == PUSHED | STAYS | first


def on_disk(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_way_of_reading_gives_the_files_of_a_source(
    client: Client, bucket: Bucket, gateway: Gateway, pusher: Pusher, tmp_path: Path
) -> None:
    whole = PUSHED | STAYS
    streamed = client.datasets.open("digits@v2", stream=True)
    assert isinstance(streamed, StreamingDataset)
    assert {one.path: bytes(one.data) for one in streamed} == whole
    brought = gateway.reads
    assert brought == len([data for data in STAYS.values() if data])

    result = client.datasets.pull("digits@v2", tmp_path / "copy")
    assert (result.written, on_disk(tmp_path / "copy")) == (len(whole), whole)
    # Now their digests are known here: nothing is fetched or written again.
    assert client.datasets.pull("digits@v2", tmp_path / "copy").written == 0

    opened = client.datasets.open("digits@v2", prefix="far/")
    assert {one.path: bytes(one.data) for one in opened} == {
        path: data for path, data in STAYS.items() if path.startswith("far/")
    }
    client.datasets.mount("digits@v2", tmp_path / "m", MountOptions(how=HARD_LINKS))
    assert on_disk(tmp_path / "m") == whole
    unmount(tmp_path / "m", cache_path())
    assert gateway.reads == brought, "packed in the cache once, for all of these"


def test_fsspec_reads_a_part_of_a_file_at_its_source(
    client: Client, bucket: Bucket, gateway: Gateway, pusher: Pusher
) -> None:
    config = client.config
    fs = AtomFileSystem(config.url, config.token, config.project, skip_instance_cache=True)
    root = f"{pusher.project.slug}/digits@v2"
    assert fs.find(root) == sorted(f"{root}/{path}" for path in PUSHED | STAYS)
    assert gateway.reads == 0
    assert fs.cat_file(f"{root}/z.txt", 1, 3) == b"zz"
    assert fs.cat_file(f"{root}/far/c d+ü.txt") == b"ccc"
    assert fs.cat_file(f"{root}/mine/b.txt") == b"bb"
    with fs.open(f"{root}/far/e.png") as file:
        assert file.read() == png(5)
    fs.close()


def test_other_bytes_than_the_pinned_are_never_given_to_a_client(
    client: Client, bucket: Bucket, gateway: Gateway, tmp_path: Path
) -> None:
    bucket.put({"z.txt": b"ZZZZ"})
    for read in (
        lambda: client.datasets.open("digits@v2"),
        lambda: client.datasets.pull("digits@v2", tmp_path / "copy"),
    ):
        with pytest.raises(ApiError, match=r"'z\.txt'") as failed:
            read()
        assert failed.value.code == "source_changed"
    assert not (tmp_path / "copy").exists()
    # Unchanged objects are still read.
    assert len(client.datasets.open("digits@v2", prefix="far/")) == 3


def test_addresses_are_given_for_files_at_a_source_only(pusher: Pusher, bucket: Bucket) -> None:
    address = f"{pusher.base}versions/v2/source-urls/"
    answer = pusher.client.post(address, {"paths": ["z.txt"]}, format="json")
    assert answer.json()["urls"]["z.txt"].startswith("/media/")
    for wrong, status in (
        ({"paths": ["mine/a.txt"]}, 404),
        ({"paths": ["nothing"]}, 404),
        ({"paths": []}, 400),
        ({"paths": "z.txt"}, 400),
        ({"path": ["z.txt"]}, 400),
        ({"paths": ["z.txt"] * 1001}, 400),
    ):
        assert pusher.client.post(address, wrong, format="json").status_code == status, wrong
