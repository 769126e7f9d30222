"""The node's folder of packs."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from atom_sdk.errors import PackDigestMismatchError, PackMissingError, PackStoreFullError
from atom_sdk.packs import PackStore, covered_packs

DATA = bytes(range(256)) * 64
PACK = blake3(DATA).digest()
OTHER = blake3(b"other").digest()


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "cache")


def test_a_filled_pack_is_there_whole_and_read_only(store: PackStore) -> None:
    path = store.fill(PACK, [DATA[:1000], DATA[1000:]])
    assert path.read_bytes() == DATA
    assert path.name == f"{PACK.hex()}.tar"
    assert path.stat().st_mode & 0o222 == 0
    assert store.has(PACK)


def test_a_damaged_pack_is_refused_and_leaves_nothing(store: PackStore) -> None:
    with pytest.raises(PackDigestMismatchError):
        store.fill(PACK, [DATA, b"x"])
    assert not store.has(PACK)
    assert list((store.root / "incoming").iterdir()) == []


def test_a_source_that_breaks_leaves_nothing_and_may_be_tried_again(store: PackStore) -> None:
    def broken() -> Iterator[bytes]:
        yield DATA[:10]
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store.fill(PACK, broken)
    assert list((store.root / "incoming").iterdir()) == []
    assert store.fill(PACK, lambda: [DATA]).read_bytes() == DATA


def test_a_pack_that_is_there_is_not_fetched(store: PackStore) -> None:
    store.fill(PACK, [DATA])
    asked: list[bool] = []

    def fetch() -> list[bytes]:
        asked.append(True)
        return [DATA]

    store.fill(PACK, fetch)
    assert asked == []


def _fill_slowly(root: Path, log: Path) -> None:
    def fetch() -> Iterator[bytes]:
        with log.open("a") as file:
            file.write("fetched\n")
        time.sleep(0.2)
        yield DATA

    PackStore(root).fill(PACK, fetch)


def test_processes_that_want_the_same_pack_fetch_it_once(store: PackStore, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    log = tmp_path / "log"
    workers = [context.Process(target=_fill_slowly, args=(store.root, log)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert log.read_text() == "fetched\n"


def test_a_full_disk_is_a_clear_error(store: PackStore) -> None:
    def full() -> Iterator[bytes]:
        yield DATA[:10]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(PackStoreFullError, match="bytes are free"):
        store.fill(PACK, full)
    assert not store.has(PACK)


def test_missing_packs_and_coverage_follow_the_order_of_the_pack_table(store: PackStore) -> None:
    store.fill(PACK, [DATA])
    table = [OTHER, PACK, *[bytes([n] * 32) for n in range(7)]]
    assert store.missing(table) == [OTHER, *table[2:]]
    bitmap = store.coverage(table)
    assert bitmap == b"\x40\x00"
    assert covered_packs(bitmap, len(table)).tolist() == [False, True] + [False] * 7


def test_a_removed_pack_is_missing(store: PackStore) -> None:
    store.fill(PACK, [DATA])
    assert store.remove(PACK)
    assert not store.remove(PACK)
    with pytest.raises(PackMissingError, match=PACK.hex()):
        store.open_path(PACK)
