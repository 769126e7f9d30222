"""Reading before the packs are on the node, from a store that behaves badly."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from random import Random

import pytest
from blake3 import blake3

from atom_sdk.client.errors import PackUnreadableError
from atom_sdk.client.transport.ranges import PackRanges, Patience
from atom_sdk.errors import SampleDigestMismatchError
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.packs import PackStore
from atom_sdk.packs.cache_eviction import PackLease, PackRoom
from atom_sdk.packs.partial import BLOCK_BYTES, create_partial
from atom_sdk.readers.ranges import StreamOptions
from atom_sdk.readers.streaming import StreamingDataset
from atom_sdk.runner.indexes import link_volume
from tests.sdk.packs.strategies import packed
from tests.sdk.readers.store_server import (
    Addresses,
    Fault,
    StoreServer,
    answer,
    serving,
    stall,
    status,
)

QUICK = Patience(tries=4, first_wait_s=0.01, longest_wait_s=0.05, silence_s=2.0)
PACKS = 3
PER_PACK = 30
STORED_WITHIN_S = 30


@dataclass
class Remote:
    """A dataset whose packs are in a store, and a node that has none of them."""

    files: dict[str, bytes]
    index: Path
    server: StoreServer
    cache: Path

    def open(
        self, limit_bytes: int | None = None, patience: Patience = QUICK, cache: Path | None = None
    ) -> StreamingDataset:
        ranges = PackRanges(Addresses(self.server.port), patience)
        options = StreamOptions(limit_bytes=limit_bytes)
        return StreamingDataset(self.index, cache or self.cache, ranges, options)

    @property
    def stored(self) -> list[Path]:
        return sorted((self.cache / "packs").glob("*.tar"))

    def await_stored(self, packs: int) -> None:
        """Wait for the threads that hash what has arrived: the reader does not."""
        deadline = time.monotonic() + STORED_WITHIN_S
        while len(self.stored) != packs:
            assert time.monotonic() < deadline, self.stored
            time.sleep(0.01)

    def pack_bytes(self) -> int:
        return max(path.stat().st_size for path in self.server.folder.iterdir())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Path, Path]:
    folder = tmp_path_factory.mktemp("stored")
    random = Random(1)
    sizes = [random.randrange(1, 300_000) for _ in range(PACKS * PER_PACK)]
    sizes[4], sizes[5] = 0, 3 * BLOCK_BYTES + 7
    files = {f"{n:03d}.bin": random.randbytes(size) for n, size in enumerate(sizes)}
    packs = folder / "packs"
    packs.mkdir()
    entries: list[Entry] = []
    names = sorted(files)
    for number in range(PACKS):
        part = names[number * PER_PACK : (number + 1) * PER_PACK]
        data, summary = packed({name: files[name] for name in part})
        (packs / f"{summary.digest.hex()}.tar").write_bytes(data)
        entries += [
            Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
            for m in summary.members
        ]
    objects = MemoryObjectStore()
    build_view(build_root([entries_table(entries)], objects), objects, folder / "view.arrow")
    return files, folder / "view.arrow", packs


@pytest.fixture
def remote(stored: tuple[dict[str, bytes], Path, Path], tmp_path: Path) -> Iterator[Remote]:
    files, index, packs = stored
    with serving(packs) as server:
        yield Remote(files, index, server, tmp_path / "cache")


def _read_all(dataset: StreamingDataset, files: dict[str, bytes], seed: int = 0) -> None:
    seen = []
    for sample in dataset.iter_shuffled(seed, 0):
        assert bytes(sample.data) == files[sample.path]
        seen.append(sample.row)
    assert sorted(seen) == list(range(len(files)))


def _fails(code: int) -> Fault:
    return lambda server, request, number: status(request, code)


def _at_first(fault: Fault) -> Fault:
    """The fault, but only for the first request of each part of a pack."""
    seen: set[tuple[str, str | None]] = set()

    def first(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        part = request.path, request.headers["Range"]
        if part in seen:
            return False
        seen.add(part)
        return fault(server, request, number)

    return first


def test_the_first_sample_needs_one_range_and_no_pack(remote: Remote) -> None:
    assert bytes(remote.open()[0].data) == remote.files["000.bin"]
    assert len(remote.server.requests) == 1
    assert remote.server.fetched_bytes() == BLOCK_BYTES
    assert remote.stored == []


def test_every_byte_comes_once_and_the_second_epoch_is_local(remote: Remote) -> None:
    _read_all(remote.open(), remote.files)
    assert max(remote.server.ranges.values()) == 1
    whole = sum(path.stat().st_size for path in remote.server.folder.iterdir())
    assert remote.server.fetched_bytes() <= whole + PACKS * BLOCK_BYTES
    remote.await_stored(PACKS)
    asked = len(remote.server.requests)
    _read_all(remote.open(), remote.files, seed=1)
    assert len(remote.server.requests) == asked


def test_what_is_all_here_is_read_like_local_packs_also_while_one_goes(remote: Remote) -> None:
    assert len(list(remote.open())) == len(remote.files)
    remote.await_stored(PACKS)
    dataset = remote.open()
    for epoch in (1, 2):
        asked = len(remote.server.requests)
        read: dict[str, bytes] = {}
        for number, sample in enumerate(dataset.iter_shuffled(3, epoch)):
            read[sample.path] = bytes(sample.data)
            if number == 20 and epoch == 2:
                # Another reader of this process gave a pack up for a new one.
                dataset._maps.drop(1)
        assert read == remote.files
        assert len(remote.server.requests) == asked


def test_near_samples_share_a_range(remote: Remote) -> None:
    _read_all_in_order = [bytes(sample.data) for sample in remote.open()]
    assert _read_all_in_order == [remote.files[name] for name in sorted(remote.files)]
    assert len(remote.server.requests) < 2 * PACKS + remote.server.fetched_bytes() // BLOCK_BYTES


def test_samples_are_read_by_row_path_and_in_any_order(remote: Remote) -> None:
    dataset = remote.open()
    assert bytes(dataset.read("004.bin")) == b""
    assert remote.server.requests == []
    assert bytes(dataset.read("005.bin")) == remote.files["005.bin"]
    assert dataset[-1].path == max(remote.files)
    rows = [5, 5, 89, 0, -1, 17]
    for look_ahead in (0, 1, 64):
        paths = [sample.path for sample in dataset.read_many(rows, look_ahead)]
        assert paths == [dataset[row].path for row in rows]
    with pytest.raises(IndexError):
        list(dataset.read_many([len(dataset)]))


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_store_that_fails_now_and_then_is_asked_again(remote: Remote, code: int) -> None:
    remote.server.fault = _at_first(_fails(code))
    _read_all(remote.open(), remote.files)


def test_bodies_that_are_cut_are_asked_for_again(remote: Remote) -> None:
    def cut(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        answer(server, request, cut=1000)
        return True

    remote.server.fault = _at_first(cut)
    _read_all(remote.open(), remote.files)


def test_a_connection_that_says_nothing_is_given_up(remote: Remote) -> None:
    remote.server.fault = lambda server, request, number: number == 0 and stall(1.0)
    patience = Patience(tries=3, first_wait_s=0.01, silence_s=0.2)
    assert bytes(remote.open(patience=patience)[0].data) == remote.files["000.bin"]
    assert len(remote.server.requests) == 2


def test_a_store_that_stays_broken_is_a_clear_error_and_may_recover(remote: Remote) -> None:
    dataset = remote.open()
    remote.server.fault = _fails(503)
    with pytest.raises(PackUnreadableError, match="answered 503") as caught:
        dataset[0]
    assert caught.value.pack == dataset.index.packs[dataset.index.pack_ids[0]].hex()
    with pytest.raises(PackUnreadableError):
        list(dataset.read_many(range(10)))
    remote.server.fault = _fails(404)
    with pytest.raises(PackUnreadableError, match="answered 404"):
        dataset[0]
    remote.server.fault = None
    _read_all(dataset, remote.files)


@dataclass
class TwoStores(Addresses):
    """Packs are in a near store, and in another to which trouble leads."""

    other_port: int = 0
    troubles: list[str] = field(default_factory=list)

    def renew(self, pack: bytes, refused: str, trouble: str = "") -> str:
        """Return an address of the other store after trouble."""
        if trouble:
            self.troubles.append(trouble)
            self.port = self.other_port
        return super().renew(pack, refused, trouble)


@pytest.mark.parametrize(("code", "trouble"), [(404, "missing"), (503, "away"), (403, "away")])
def test_a_pack_that_the_near_store_cannot_give_comes_from_the_other(
    remote: Remote, code: int, trouble: str
) -> None:
    with serving(remote.server.folder, _fails(code)) as near:
        addresses = TwoStores(near.port, other_port=remote.server.port)
        dataset = StreamingDataset(remote.index, remote.cache, PackRanges(addresses, QUICK))
        _read_all(dataset, remote.files)
    assert set(addresses.troubles) == {trouble}


def test_wrong_bytes_of_the_near_store_are_read_from_the_other(remote: Remote) -> None:
    def spoil(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        answer(server, request, spoil=True)
        return True

    with serving(remote.server.folder, spoil) as near:
        addresses = TwoStores(near.port, other_port=remote.server.port)
        dataset = StreamingDataset(remote.index, remote.cache, PackRanges(addresses, QUICK))
        assert bytes(dataset[0].data) == remote.files[dataset[0].path]
    assert addresses.troubles[0] == "digest"


def test_an_address_that_expired_is_renewed_once(remote: Remote) -> None:
    def expired(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        return "key=1" not in request.path and status(request, 403)

    remote.server.fault = expired
    dataset = remote.open()
    assert bytes(dataset[0].data) == remote.files["000.bin"]
    addresses = dataset._ranges.addresses  # type: ignore[attr-defined]
    assert addresses.renewals == 1
    remote.server.fault = _fails(403)
    with pytest.raises(PackUnreadableError, match="403, twice"):
        dataset[80]


def test_wrong_bytes_are_fetched_once_more_and_never_served(remote: Remote) -> None:
    lies = 1

    def lie(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        if number < lies:
            answer(server, request, spoil=True)
        return number < lies

    remote.server.fault = lie
    assert bytes(remote.open()[0].data) == remote.files["000.bin"]
    lies = 10**9
    with pytest.raises(SampleDigestMismatchError):
        remote.open(cache=remote.cache.with_name("other"))[0]


def test_a_straggler_is_overtaken_by_a_second_request(remote: Remote) -> None:
    slow: list[int] = []

    def straggle(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        if number == 40:
            slow.append(number)
            return stall(1.5)
        return False

    remote.server.fault = straggle
    ranges = PackRanges(Addresses(remote.server.port), QUICK)
    pack = bytes.fromhex(next(remote.server.folder.iterdir()).stem)
    for _ in range(60):
        assert len(ranges.read(pack, 0, 1000).data) == 1000
    assert slow == [40]
    assert ranges.hedge.extra >= 1
    assert ranges.hedge.extra <= 0.05 * ranges.hedge.requests


@pytest.mark.parametrize("packs", [0, 1, 2])
def test_the_disk_is_bounded_and_what_does_not_fit_is_read_anyway(
    remote: Remote, packs: int
) -> None:
    limit_bytes = packs * remote.pack_bytes()
    for _ in range(2):
        dataset = remote.open(limit_bytes)
        for _ in range(2):
            assert [bytes(s.data) for s in dataset] == list(remote.files.values())
            kept = [*remote.stored, *(remote.cache / "partial").glob("*.data")]
            assert sum(path.stat().st_size for path in kept) <= limit_bytes


def test_eviction_takes_the_least_recently_used_and_none_that_is_held(remote: Remote) -> None:
    _read_all(remote.open(), remote.files)
    remote.await_stored(PACKS)
    store = PackStore(remote.cache)
    for age, path in enumerate(remote.stored):
        os.utime(path, (1000 + age, 1000 + age))
    oldest, middle, newest = (bytes.fromhex(path.stem) for path in remote.stored)
    limit_bytes = remote.pack_bytes() * PACKS
    other = PackLease(store)
    other.add([oldest])
    os.utime(store.path(oldest), (1, 1))
    assert PackRoom(store, limit_bytes).admit(remote.pack_bytes(), lambda: None)
    assert (store.has(oldest), store.has(middle), store.has(newest)) == (True, False, True)
    del other
    assert PackRoom(store, 0).shrink()
    assert remote.stored == []


def test_a_reader_keeps_its_packs_while_others_make_room(remote: Remote) -> None:
    reader = remote.open()
    _read_all(reader, remote.files)
    other = remote.open(limit_bytes=remote.pack_bytes())
    _read_all(other, remote.files)
    asked = len(remote.server.requests)
    _read_all(reader, remote.files)
    assert len(remote.server.requests) == asked
    remote.await_stored(PACKS)


def test_threads_share_what_is_fetched(remote: Remote) -> None:
    dataset = remote.open()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seed: _read_all(dataset, remote.files, seed), range(8)))
    assert max(remote.server.ranges.values()) == 1


def _child(dataset: StreamingDataset, files: dict[str, bytes], seed: int) -> None:
    _read_all(dataset, files, seed)


def test_processes_fetch_a_pack_once(remote: Remote) -> None:
    remote.server.fault = lambda server, request, number: stall(0.01)
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_child, args=(remote.open(), remote.files, seed))
        for seed in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert max(remote.server.ranges.values()) == 1
    whole = sum(path.stat().st_size for path in remote.server.folder.iterdir())
    assert remote.server.fetched_bytes() <= whole + PACKS * BLOCK_BYTES
    remote.await_stored(PACKS)


def test_a_forked_child_reads_with_connections_of_its_own(remote: Remote) -> None:
    dataset = remote.open()
    dataset[0]
    child = os.fork()
    if child == 0:
        try:
            _read_all(dataset, remote.files)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _read_all(dataset, remote.files)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert max(remote.server.ranges.values()) == 1


def test_a_killed_reader_leaves_no_half_pack_and_blocks_nobody(remote: Remote) -> None:
    let_go = threading.Event()

    def hang(server: StoreServer, request: BaseHTTPRequestHandler, number: int) -> bool:
        return number >= 4 and let_go.wait(60) and False

    remote.server.fault = hang
    victim = multiprocessing.get_context("spawn").Process(
        target=_child, args=(remote.open(patience=Patience(silence_s=60)), remote.files, 0)
    )
    victim.start()
    while len(remote.server.requests) < 6:
        time.sleep(0.01)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    assert remote.stored == []
    remote.server.fault = None
    let_go.set()
    _read_all(remote.open(), remote.files)
    remote.await_stored(PACKS)
    assert [blake3(p.read_bytes()).hexdigest() for p in remote.stored] == [
        p.stem for p in remote.stored
    ]


def test_a_pack_whose_last_reader_died_is_made_whole_by_the_next(remote: Remote) -> None:
    dataset = remote.open()
    pack = dataset.index.packs[0]
    content = (remote.server.folder / f"{pack.hex()}.tar").read_bytes()
    create_partial(PackStore(remote.cache), pack, len(content), 0, memoryview(content))
    assert bytes(dataset[0].data) == remote.files["000.bin"]
    assert PackStore(remote.cache).path(pack).read_bytes() == content
    assert remote.server.requests == []


def test_a_streaming_dataset_is_pickled_without_its_connections(remote: Remote) -> None:
    dataset = remote.open(limit_bytes=5)
    dataset[0]
    again = pickle.loads(pickle.dumps(dataset))
    assert again.options == dataset.options
    assert bytes(again[3].data) == remote.files["003.bin"]


def test_a_damaged_pack_that_arrived_is_never_stored(remote: Remote) -> None:
    dataset = remote.open()
    dataset[0]
    arriving = next((remote.cache / "partial").glob("*.data"))
    # Between samples, where no digest of a sample notices it.
    gap = int(dataset.index.offsets[0]) + int(dataset.index.sizes[0])
    with arriving.open("r+b") as file:
        file.seek(gap)
        file.write(b"x")
    _read_all(dataset, remote.files)
    remote.await_stored(PACKS - 1)
    _read_all(remote.open(), remote.files)
    remote.await_stored(PACKS)


def test_packs_of_a_volume_are_read_where_they_are_and_the_others_come(
    remote: Remote, tmp_path: Path
) -> None:
    volume, packs = tmp_path / "volume", sorted(remote.server.folder.iterdir())
    (volume / "packs").mkdir(parents=True)
    there = volume / "packs" / packs[0].name
    there.write_bytes(packs[0].read_bytes())
    (volume / "packs.txt").write_text("".join(f"{path.stem}\n" for path in packs) + "../x\n")
    for _ in range(2):
        # A runner that starts again links again.
        link_volume(volume, remote.cache / "packs")
    # The pack of the volume takes no room, though the others fill all that there is.
    limit = sum(path.stat().st_size for path in packs[1:])
    _read_all(remote.open(limit), remote.files)
    assert not [path for path, _ in remote.server.requests if packs[0].stem in path]
    remote.await_stored(PACKS)
    links = [path for path in remote.stored if path.is_symlink()]
    assert [path.resolve() for path in links if path.exists()] == [there]


def test_a_pack_that_comes_to_the_volume_later_is_read_there(
    remote: Remote, tmp_path: Path
) -> None:
    volume, packs = tmp_path / "volume", sorted(remote.server.folder.iterdir())
    (volume / "packs").mkdir(parents=True)
    (volume / "packs.txt").write_text("".join(f"{path.stem}\n" for path in packs))
    link_volume(volume, remote.cache / "packs")
    dataset = remote.open()
    for path in packs:
        (volume / "packs" / path.name).write_bytes(path.read_bytes())
    _read_all(dataset, remote.files)
    assert not remote.server.requests


def test_a_pod_without_its_volume_links_nothing(tmp_path: Path) -> None:
    link_volume(tmp_path / "none", tmp_path / "packs")
    assert not list((tmp_path / "packs").iterdir())
