"""Manifests and addresses with which a client reads a version by the SDK alone."""

from __future__ import annotations

import httpx
import pytest

from atom.accounts import actions as accounts
from atom.core import storage
from atom.datasets.models import Version
from atom_sdk.client import Client
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import (
    MemoryObjectStore,
    build_root,
    build_view,
    iter_ranges,
    layer_table,
    read_layer,
    read_root,
    write_layer,
    write_root,
)
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.roots.groups import GroupRule
from atom_sdk.packs import PackStore
from atom_sdk.readers import LocalDataset
from tests.datasets.pushing import Pusher, class_files, make_pack, png


def fetch(url: str) -> bytes:
    """GET a presigned address, without any credential."""
    answer = httpx.get(url, trust_env=False)
    answer.raise_for_status()
    return answer.content


def test_manifest_and_pack_addresses_are_all_that_a_reader_needs(
    pusher: Pusher, tmp_path: object
) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    files = class_files()
    pusher.push(files, labels_from="folder")

    manifest = pusher.get("versions/v1/manifest/")
    store = MemoryObjectStore()
    for key, url in manifest["urls"].items():
        store.put(key, fetch(url))
    root = read_root(bytes.fromhex(manifest["root_digest"]), store)
    build_view(root, store, folder / "view.arrow")
    digest = make_pack(files).digest
    urls = pusher.post("versions/v1/pack-urls/", {"packs": [digest]})["urls"]
    packs = PackStore(folder)
    packs.fill(bytes.fromhex(digest), [fetch(urls[digest])])

    dataset = LocalDataset(folder / "view.arrow", folder / "packs")
    assert len(dataset) == len(files)
    assert root.content.hex() == manifest["version"]["content_digest"]


def test_addresses_are_given_for_the_packs_of_the_version_only(pusher: Pusher) -> None:
    pusher.push(class_files())
    other = make_pack({"other.png": png(99)})
    pusher.upload(other.data)

    answer = pusher.client.post(f"{pusher.base}versions/v1/pack-urls/", {"packs": [other.digest]})

    assert (answer.status_code, answer.json()["code"]) == (404, "pack_unknown")


def test_a_token_that_may_only_read_gets_pack_addresses(pusher: Pusher) -> None:
    pusher.push(class_files())
    token = accounts.create_token(pusher.user, "reader", ["read"])
    pusher.client.force_authenticate(None)
    pusher.client.credentials(HTTP_AUTHORIZATION=f"Bearer {token.secret}")
    digest = make_pack(class_files()).digest

    read = pusher.client.post(f"{pusher.base}versions/v1/pack-urls/", {"packs": [digest]})
    write = pusher.client.post(f"{pusher.base}commits/", {})

    assert read.status_code == 200
    assert (write.status_code, write.json()["code"]) == (403, "scope_missing")


def test_addresses_are_asked_for_as_they_are_needed(
    pusher: Pusher, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pusher.push(class_files())
    version, store = Version.objects.get(), storage.project_store(pusher.project)
    pushed = list(iter_ranges(read_root(bytes.fromhex(version.root), store), store))
    root = build_root(pushed, store, rule=BoundaryRule(modulus=2, cap=2))
    labels = write_layer("split", "split", layer_table("split", []), store)
    digest = write_root(root.with_layers(labels), store, GroupRule(flat=2, modulus=2, cap=2))
    Version.objects.update(root=digest.hex())
    all_of_them = pusher.get("versions/v1/manifest/")["urls"]
    some = pusher.get("versions/v1/manifest/", addresses="root")["urls"]
    assert list(some) == [f"roots/{digest.hex()}.json"]
    assert {key.partition("/")[0] for key in all_of_them} == {"roots", "groups", "ranges", "layers"}

    monkeypatch.setattr("atom_sdk.client.transport.manifest._ASKED_AT_ONCE", 3)
    manifest = RemoteManifest(client.http, client.datasets.version_base("digits@v1"))
    tables = iter_ranges(manifest.root, manifest)
    assert [path for table in tables for path in table["path"].to_pylist()] == sorted(class_files())
    assert len(read_layer(manifest.root.layers[0], manifest)) == 0
    assert manifest._urls.keys() == all_of_them.keys()


@pytest.mark.parametrize(
    ("keys", "refused"),
    [
        ([f"ranges/{'0' * 64}.parquet"], (404, "manifest_object_unknown")),
        ([f"packs/{'0' * 64}.tar"], (400, "invalid")),
        (["ranges/../x"], (400, "invalid")),
        ([], (400, "invalid")),
        ("ranges", (400, "invalid")),
    ],
)
def test_only_objects_of_the_manifest_have_addresses(
    pusher: Pusher, keys: object, refused: tuple[int, str]
) -> None:
    pusher.push(class_files())
    answer = pusher.client.post(f"{pusher.base}versions/v1/manifest-urls/", {"keys": keys})
    assert (answer.status_code, answer.json()["code"]) == refused
