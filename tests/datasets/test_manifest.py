"""What a client gets to read a version with the SDK alone."""

from __future__ import annotations

import httpx

from atom.accounts import actions as accounts
from atom_sdk.manifests import MemoryObjectStore, build_view, read_root
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
