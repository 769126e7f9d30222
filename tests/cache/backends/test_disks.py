"""The disk of a node's cache, full or turned read-only: it is said, and warming goes on later."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from atom.cache.backends.local.paths import cache_root, pack_store
from atom.cache.delivery.actions.views import view_for
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.models import Node
from atom.datasets.catalog.reads import packs_of
from tests.cache.warming.test_warming import version_of
from tests.datasets.pushing import Pusher

# The cache's folders and no pack.
TINY, ENOUGH = "size=16k", "size=16m"


def _mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(pusher: Pusher, tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A file system of the cache's own, with hardly any room."""
    settings.ATOM_HOME = tmp_path
    folder = cache_root()
    folder.mkdir()
    if os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", TINY, "tmpfs", str(folder)):
        pytest.skip("needs root and the right to mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def warmed(pusher: Pusher, node: Node) -> CacheRecord:
    """Ask for the version and return what became of it."""
    record = request_warm(version_of(pusher), node)
    record.refresh_from_db()
    return record


def is_whole(pusher: Pusher) -> bool:
    """Whether the pack is here, byte for byte."""
    [pack] = packs_of(version_of(pusher))
    path = pack_store(pusher.project).path(bytes.fromhex(pack))
    return path.exists() and blake3(path.read_bytes()).hexdigest() == pack


def test_a_full_disk_fails_the_warm_up_in_words_and_leaves_nothing_half(
    disk: Path, pusher: Pusher, node: Node
) -> None:
    record = warmed(pusher, node)
    assert record.state == "failed"
    assert "No room for the pack" in record.error
    assert not is_whole(pusher)
    assert not [*pack_store(pusher.project).root.glob("incoming/*")]
    assert _mount("-o", f"remount,{ENOUGH}", str(disk))
    assert warmed(pusher, node).state == "warm"
    assert is_whole(pusher)


def test_a_disk_that_turned_read_only_gives_what_it_has_and_takes_more_later(
    disk: Path, pusher: Pusher, node: Node
) -> None:
    assert _mount("-o", f"remount,{ENOUGH}", str(disk))
    assert warmed(pusher, node).state == "warm"
    assert _mount("-o", "remount,ro", str(disk))
    view = view_for(version_of(pusher), node)
    assert view.index_path.exists()
    assert is_whole(pusher)
    pusher.push({"more.txt": b"more"}, expected_head=version_of(pusher).commit)
    record = request_warm(version_of(pusher, 2), node)
    record.refresh_from_db()
    assert (record.state, "Read-only" in record.error) == ("failed", True)
    assert _mount("-o", "remount,rw", str(disk))
    request_warm(version_of(pusher, 2), node)
    record.refresh_from_db()
    assert record.state == "warm"
