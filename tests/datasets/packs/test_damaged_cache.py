"""A damaged pack in the client's own cache: each way to read a version fetches it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from atom.core import storage
from atom_sdk.client import Client
from atom_sdk.client.config import cache_path
from atom_sdk.client.pull import PullOptions
from atom_sdk.errors import SampleDigestMismatchError
from atom_sdk.fs import AtomFileSystem
from atom_sdk.mount import MountOptions, unmount
from atom_sdk.packs import PackStore
from atom_sdk.packs.walk import hash_file
from tests.datasets.pushing import Pusher, class_files
from tests.datasets.test_mounting import shown
from tests.sdk.mount.conftest import why_not


def damaged(data: bytes) -> bytes:
    """Every block of 512 bytes with another bit."""
    wrong = bytearray(data)
    for position in range(100, len(wrong), 512):
        wrong[position] ^= 1
    return bytes(wrong)


@pytest.fixture
def pack(pusher: Pusher, client: Client) -> Path:
    """The one pack of a version, in the client's cache, damaged."""
    pusher.push(class_files())
    client.datasets.open("digits@v1")
    (path,) = PackStore(cache_path()).packs.iterdir()
    path.chmod(0o644)
    path.write_bytes(damaged(path.read_bytes()))
    return path


@pytest.fixture
def fs(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[fsspec.AbstractFileSystem]:
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    fs = fsspec.filesystem("atom")
    yield fs
    fs.close()
    AtomFileSystem.clear_instance_cache()


@pytest.fixture
def kernel() -> None:
    """Skip where the kernel cannot show packs."""
    if reason := why_not("erofs"):
        pytest.skip(reason)


def is_whole(pack: Path) -> bool:
    return hash_file(pack).hex() == pack.stem


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_what_was_fetched_again(client: Client, pack: Path, stream: bool) -> None:
    dataset = client.datasets.open("digits@v1", stream=stream)
    assert {sample.path: bytes(sample.data) for sample in dataset} == class_files()
    assert is_whole(pack)


def test_a_pull_writes_what_was_fetched_again(client: Client, pack: Path, tmp_path: Path) -> None:
    client.datasets.pull("digits@v1", tmp_path / "pulled", PullOptions())
    assert shown(tmp_path / "pulled") == class_files()
    assert is_whole(pack)


def test_a_mount_shows_what_was_fetched_again(client: Client, pack: Path, tmp_path: Path) -> None:
    target = tmp_path / "shown"
    client.datasets.mount("digits@v1", target, MountOptions(how="hardlinks"))
    try:
        assert shown(target) == class_files()
    finally:
        unmount(target, cache_path())
    assert is_whole(pack)


def test_the_kernel_shows_what_was_fetched_again(
    client: Client, pack: Path, tmp_path: Path, kernel: None
) -> None:
    target = tmp_path / "shown"
    client.datasets.mount("digits@v1", target, MountOptions(how="erofs", verify_all=True))
    try:
        assert shown(target) == class_files()
    finally:
        unmount(target, cache_path())
    assert is_whole(pack)


def test_the_kernel_shows_a_pack_again_that_was_cut(
    client: Client, pack: Path, tmp_path: Path, kernel: None
) -> None:
    pack.write_bytes(pack.read_bytes()[:5000])
    target = tmp_path / "shown"
    client.datasets.mount("digits@v1", target, MountOptions(how="erofs"))
    try:
        assert shown(target) == class_files()
    finally:
        unmount(target, cache_path())


def test_a_file_of_an_address_is_read_again(
    fs: fsspec.AbstractFileSystem, pusher: Pusher, pack: Path
) -> None:
    path, data = next(iter(class_files().items()))
    assert fs.cat_file(f"{pusher.project.slug}/digits@v1/{path}") == data
    assert is_whole(pack)


def test_a_store_whose_pack_is_bad_too_is_told(
    client: Client, pusher: Pusher, pack: Path, tmp_path: Path
) -> None:
    key = f"{storage.project_prefix(pusher.project)}packs/{pack.name}"
    storage.objects().put(key, pack.read_bytes())
    dataset = client.datasets.open("digits@v1")
    for row in range(2):
        with pytest.raises(SampleDigestMismatchError, match="object store has of it") as caught:
            dataset[row]
    assert str(pack) in str(caught.value)
    assert "push the folder" in caught.value.hint
    target = tmp_path / "shown"
    with pytest.raises(SampleDigestMismatchError, match="object store has of it"):
        client.datasets.mount("digits@v1", target, MountOptions(how="hardlinks"))
    assert not target.exists()
