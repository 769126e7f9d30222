"""A damaged pack in a node's cache is fetched again, once, and the read answers the right bytes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import Barrier as ThreadBarrier
from typing import Any

import pytest

from atom_sdk.client.pull.pull import write_entry
from atom_sdk.client.transport.ranges import PackRanges, Patience
from atom_sdk.errors import SampleDigestMismatchError
from atom_sdk.manifests import table_entries
from atom_sdk.manifests.joined import iter_ranges
from atom_sdk.packs import PackStore
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.local import ReadMode
from atom_sdk.readers.ranges import StreamOptions
from atom_sdk.readers.repair import PackRepair
from atom_sdk.readers.streaming import StreamingDataset
from tests.sdk.readers.conftest import Node
from tests.sdk.readers.store_server import Addresses, StoreServer, serving, stall, status

QUICK = Patience(tries=2, first_wait_s=0.01, longest_wait_s=0.01, silence_s=5.0)
PROCESSES = 2
Open = Callable[[], LocalDataset]
Damage = Callable[[Path], None]


class Cache:
    """A node whose first pack is damaged, and the store that its packs came from."""

    def __init__(self, node: Node, server: StoreServer) -> None:
        self.node, self.server = node, server
        self.pack = node.open().index.packs[0]
        self.file = node.store.path(self.pack)
        self.files = node.files

    @property
    def repair(self) -> PackRepair:
        return PackRepair(self.node.store.root, PackRanges(Addresses(self.server.port), QUICK))

    def open(self, mode: ReadMode = "mmap") -> LocalDataset:
        return LocalDataset(self.node.index, self.node.store.packs, "first", mode, self.repair)

    def stream(self) -> StreamingDataset:
        ranges = PackRanges(Addresses(self.server.port), QUICK)
        return StreamingDataset(
            self.node.index, self.node.store.root, ranges, StreamOptions(limit_bytes=None)
        )

    def row(self) -> int:
        """A row of the damaged pack, with bytes."""
        index = self.node.open().index
        return next(n for n in range(len(index)) if index.pack_ids[n] == 0 and index.sizes[n] > 999)

    def is_whole(self) -> bool:
        return self.file.read_bytes() == self.stored.read_bytes()

    @property
    def stored(self) -> Path:
        return self.server.folder / self.file.name


@pytest.fixture
def cache(node: Node, tmp_path: Path) -> Iterator[Cache]:
    folder = tmp_path / "stored"
    folder.mkdir()
    for path in node.store.packs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    with serving(folder) as server:
        yield Cache(node, server)


def flip(path: Path) -> None:
    """Flip a bit of every block, so that every file of the pack is wrong."""
    data = bytearray(path.read_bytes())
    for position in range(100, len(data), 512):
        data[position] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def cut(path: Path) -> None:
    """Leave the first few bytes, as a disk that was full does."""
    path.chmod(0o644)
    os.truncate(path, 700)


def cut_to_nothing(path: Path) -> None:
    """Leave the name."""
    path.chmod(0o644)
    os.truncate(path, 0)


def read_all(dataset: LocalDataset) -> dict[str, bytes]:
    return {sample.path: bytes(sample.data) for sample in dataset}


@pytest.mark.parametrize("damage", [flip, cut, cut_to_nothing])
@pytest.mark.parametrize("mode", ["mmap", "pread", "direct", "stream"])
def test_a_damaged_pack_is_fetched_again_and_the_read_is_right(
    cache: Cache, damage: Damage, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage(cache.file)
    with caplog.at_level(logging.WARNING):
        dataset = cache.stream() if mode == "stream" else cache.open(mode)  # type: ignore[arg-type]
        assert read_all(dataset) == cache.files
    assert cache.is_whole()
    # One request for a pack of less than 8 MiB, and no other.
    assert [name for name, _ in cache.server.requests] == [cache.pack.hex()[:8]]
    assert [record.getMessage() for record in caplog.records] == [
        f"The pack in {cache.file} was damaged and was fetched again."
    ]


def test_samples_that_are_in_use_keep_the_bytes_that_they_had(cache: Cache) -> None:
    dataset, row = cache.open(), cache.row()
    before = dataset[row]
    data = bytearray(cache.file.read_bytes())
    data[int(dataset.index.offsets[row + 1])] ^= 1
    cache.file.chmod(0o644)
    cache.file.write_bytes(data)
    after = dataset[row + 1]
    assert bytes(after.data) == cache.files[after.path]
    assert bytes(before.data) == cache.files[before.path]


def test_a_store_whose_pack_is_bad_too_is_asked_once_and_named(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    flip(cache.file)
    flip(cache.stored)
    dataset = cache.open()
    damaged = [n for n in range(len(dataset)) if dataset.index.pack_ids[n] == 0]
    for row in [n for n in damaged if dataset.index.sizes[n] > 999]:
        with pytest.raises(SampleDigestMismatchError, match="object store has of it") as caught:
            dataset[row]
        assert str(cache.file) in str(caught.value)
        assert cache.pack.hex() in str(caught.value)
        assert "push the folder" in caught.value.hint
    assert len(cache.server.requests) == 1
    assert len(caplog.records) == 1
    # Right files of the damaged pack, and the other pack, are read as before.
    assert cache.file.exists()
    assert bytes(dataset[len(dataset) - 1].data) == cache.files[max(cache.files)]


def test_a_store_that_is_away_leaves_the_file_and_says_what_to_do(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    flip(cache.file)
    cache.server.fault = lambda server, request, number: status(request, 503)
    dataset = cache.open()
    for _ in range(3):
        with pytest.raises(SampleDigestMismatchError, match="answered 503") as caught:
            dataset[cache.row()]
    assert str(cache.file) in str(caught.value)
    assert f"remove {cache.file}" in caught.value.hint
    assert len(cache.server.requests) == QUICK.tries
    assert len(caplog.records) == 1
    assert cache.file.exists()
    # Another reader tries again, once the store is back.
    cache.server.fault = None
    assert read_all(cache.open()) == cache.files


def test_without_a_store_the_error_names_the_file(cache: Cache) -> None:
    flip(cache.file)
    with pytest.raises(SampleDigestMismatchError) as caught:
        cache.node.open()[cache.row()]
    assert str(cache.file) in str(caught.value)


def test_a_bad_store_is_told_by_a_reader_that_streams(cache: Cache) -> None:
    cache.file.unlink()
    flip(cache.stored)
    with pytest.raises(SampleDigestMismatchError, match="object store has of it is damaged"):
        cache.stream()[cache.row()]


def test_threads_that_meet_the_same_damage_fetch_it_once(cache: Cache) -> None:
    flip(cache.file)
    cache.server.fault = lambda server, request, number: stall(0.2)
    dataset, together = cache.open(), ThreadBarrier(4)

    def read(row: int) -> bool:
        together.wait()
        sample = dataset[row]
        return bytes(sample.data) == cache.files[sample.path]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(cache.row(), cache.row() + 4)))
    assert len(cache.server.requests) == 1


def _read_in_child(
    dataset: LocalDataset, begin: Barrier, found: multiprocessing.Queue[int]
) -> None:
    # Mapped by both before either replaces it.
    dataset._maps.view(0)
    begin.wait()
    found.put(sum(len(data) for data in read_all(dataset).values()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_meet_the_same_damage_fetch_it_once(cache: Cache, method: str) -> None:
    flip(cache.file)
    # Slow, so that both wait for it.
    cache.server.fault = lambda server, request, number: stall(0.3)
    context: Any = multiprocessing.get_context(method)
    begin, found = context.Barrier(PROCESSES), context.Queue()
    dataset = cache.open()
    children = [
        context.Process(target=_read_in_child, args=(dataset, begin, found))
        for _ in range(PROCESSES)
    ]
    for child in children:
        child.start()
    sizes = [found.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    assert sizes == [sum(map(len, cache.files.values()))] * PROCESSES
    assert len(cache.server.requests) == 1
    assert cache.is_whole()


def test_what_mends_goes_to_other_processes(cache: Cache) -> None:
    flip(cache.file)
    for dataset in (cache.open(), cache.stream()):
        again = pickle.loads(pickle.dumps(dataset))
        assert read_all(again) == cache.files


def test_a_pulled_file_is_written_from_the_pack_that_was_fetched_again(
    cache: Cache, tmp_path: Path
) -> None:
    flip(cache.file)
    repair = cache.repair
    for table in iter_ranges(cache.node.root, cache.node.objects):
        for entry in table_entries(table):
            write_entry(cache.node.store, entry, tmp_path / "pulled", repair)
            assert (tmp_path / "pulled" / entry.path).read_bytes() == cache.files[entry.path]
    assert len(cache.server.requests) == 1


def test_a_damaged_pack_keeps_its_name_until_the_new_one_is_whole(
    cache: Cache, tmp_path: Path
) -> None:
    """A reader that looks for it meanwhile never misses it."""
    flip(cache.file)
    seen: list[bool] = []

    def look(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        seen.append(cache.file.exists())
        return False

    cache.server.fault = look
    read_all(cache.open())
    assert seen == [True]
    assert list((cache.node.store.root / "incoming").iterdir()) == []


def test_a_whole_pack_is_not_replaced(cache: Cache) -> None:
    def never() -> list[bytes]:
        raise AssertionError("it was asked for")

    assert not PackStore(cache.node.store.root).replace_damaged(cache.pack, never)
