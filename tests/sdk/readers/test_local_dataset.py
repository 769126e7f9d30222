"""Reading samples on a node."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atom_sdk import errors
from atom_sdk.readers import LocalDataset, shuffled_order
from atom_sdk.readers.local import Verify
from tests.sdk.readers.conftest import Node


def _damage(node: Node, path: str) -> str:
    """Flip one bit of a file on the node; returns the pack's hex digest."""
    index = node.open("never").index
    entry_row = index.row_of(path)
    pack = index.packs[int(index.pack_ids[entry_row])]
    target = node.store.path(pack)
    target.chmod(0o644)
    with target.open("r+b") as file:
        file.seek(int(index.offsets[entry_row]) + 5)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    return pack.hex()


def test_every_sample_has_its_path_and_bytes_in_path_order(node: Node) -> None:
    dataset = node.open()
    assert len(dataset) == len(node.files)
    assert [sample.path for sample in dataset] == sorted(node.files)
    assert all(bytes(sample.data) == node.files[sample.path] for sample in dataset)


def test_a_row_may_count_from_the_end_and_must_exist(node: Node) -> None:
    dataset = node.open()
    assert dataset[-1].path == max(node.files)
    for row in (300, -301):
        with pytest.raises(IndexError):
            dataset[row]
        with pytest.raises(IndexError):
            list(dataset.read_many([row]))


def test_a_file_is_read_by_path(node: Node) -> None:
    dataset = node.open()
    for path, content in node.files.items():
        assert bytes(dataset.read(path)) == content
    for path in ("", "0", "zzz"):
        with pytest.raises(errors.PathNotFoundError):
            dataset.read(path)


def test_data_is_a_read_only_view_of_the_pack(node: Node) -> None:
    data = node.open()[10].data
    assert isinstance(data, memoryview)
    assert data.readonly
    assert isinstance(data.obj, mmap.mmap)


def test_data_outlives_the_dataset_and_the_pack(node: Node) -> None:
    dataset = node.open()
    sample = dataset[50]
    path = sample.path
    for pack in dataset.index.packs:
        node.store.remove(pack)
    del dataset
    assert bytes(sample.data) == node.files[path]


@pytest.mark.parametrize("verify", ["first", "always"])
def test_damaged_bytes_are_never_served(node: Node, verify: Verify) -> None:
    path = "1/é 100.bin"
    pack = _damage(node, path)
    dataset = node.open(verify)
    for _ in range(2):
        with pytest.raises(errors.SampleDigestMismatchError) as caught:
            dataset.read(path)
        assert (caught.value.path, caught.value.pack) == (path, pack)
    assert bytes(dataset.read("1/é 103.bin")) == node.files["1/é 103.bin"]


def test_verify_first_looks_once_and_verify_always_looks_again(node: Node) -> None:
    path = "1/é 100.bin"
    first, always = node.open("first"), node.open("always")
    first.read(path)
    always.read(path)
    _damage(node, path)
    first.read(path)
    with pytest.raises(errors.SampleDigestMismatchError):
        always.read(path)


def test_verify_never_serves_what_is_there(node: Node) -> None:
    _damage(node, "1/é 100.bin")
    assert bytes(node.open("never").read("1/é 100.bin")) != node.files["1/é 100.bin"]


def test_a_pack_that_was_cut_is_detected(node: Node) -> None:
    dataset = node.open()
    row = dataset.index.row_of(max(node.files))
    target = node.store.path(dataset.index.packs[dataset.index.pack_ids[row]])
    target.chmod(0o644)
    os.truncate(target, int(dataset.index.offsets[row]) + 1)
    with pytest.raises(errors.SampleDigestMismatchError):
        dataset[row]
    assert len(list(dataset.read_many(range(200)))) == 200


def test_an_unknown_way_to_verify_is_refused(node: Node) -> None:
    with pytest.raises(ValueError, match="sometimes"):
        LocalDataset(node.index, node.store.packs, "sometimes")  # type: ignore[arg-type]


def test_a_missing_pack_is_named_with_the_sample(node: Node) -> None:
    dataset = node.open()
    first, second = (dataset.index.packs[int(dataset.index.pack_ids[row])] for row in (0, -1))
    node.store.remove(first)
    assert dataset.missing_packs() == [first]
    with pytest.raises(errors.PackMissingError) as caught:
        list(dataset.read_many([299, 0]))
    assert (caught.value.pack, caught.value.path) == (first.hex(), min(node.files))
    assert bytes(dataset[299].data) == node.files[max(node.files)]
    assert second != first


def test_read_many_keeps_the_order_whatever_the_look_ahead(node: Node) -> None:
    dataset = node.open()
    rows = [5, 5, 299, 0, -1, 17]
    for look_ahead in (0, 1, 64):
        paths = [sample.path for sample in dataset.read_many(rows, look_ahead)]
        assert paths == [dataset[row].path for row in rows]


def test_read_many_gives_what_single_reads_give_in_every_epoch(node: Node) -> None:
    rows = [*range(299, -1, -3), *range(-300, 0, 7)]
    single = node.open()
    expected = [(single[row].row, bytes(single[row].data)) for row in rows]
    for verify in ("first", "always", "never"):
        dataset = node.open(verify)
        for _ in range(2):
            read = [(sample.row, bytes(sample.data)) for sample in dataset.read_many(rows, 5)]
            assert read == expected


def test_a_row_that_is_not_there_is_named_in_a_batch(node: Node) -> None:
    with pytest.raises(IndexError, match="row 300 of 300"):
        list(node.open().read_many([0, 1, 300, 2]))


def test_a_shuffled_epoch_holds_every_sample_once_and_repeats_exactly(node: Node) -> None:
    dataset = node.open()
    first = [sample.row for sample in dataset.iter_shuffled(seed=1, epoch=0)]
    assert sorted(first) == list(range(300))
    assert first == [sample.row for sample in node.open().iter_shuffled(seed=1, epoch=0)]
    assert first != [sample.row for sample in dataset.iter_shuffled(seed=1, epoch=1)]
    assert first != [sample.row for sample in dataset.iter_shuffled(seed=2, epoch=0)]


def test_the_shuffled_order_is_pinned() -> None:
    # A run that resumes with a newer library must see the order that it began with.
    assert shuffled_order(8, seed=42, epoch=3).tolist() == PINNED_ORDER
    assert shuffled_order(0, 0, 0).tolist() == []


def test_threads_read_the_same_dataset(node: Node) -> None:
    dataset = node.open("always")

    def read_all(seed: int) -> bool:
        samples = dataset.iter_shuffled(seed, 0)
        return all(bytes(sample.data) == node.files[sample.path] for sample in samples)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read_all, range(16)))


def test_a_forked_child_reads_and_shares_what_is_verified(node: Node) -> None:
    dataset = node.open()
    dataset[0]
    child = os.fork()
    if child == 0:
        good = all(bytes(sample.data) == node.files[sample.path] for sample in dataset)
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    _damage(node, "1/é 100.bin")
    # The child verified this row before it was damaged; the mark is shared.
    dataset.read("1/é 100.bin")


def _paths(dataset: LocalDataset) -> list[str]:
    return [sample.path for sample in dataset if bytes(sample.data) is not None]


def test_a_dataset_is_sent_to_a_spawned_worker(node: Node) -> None:
    dataset = node.open()
    dataset[0]
    again = pickle.loads(pickle.dumps(dataset))
    assert (again.verify, len(again)) == ("first", 300)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_paths, (dataset,)) == sorted(node.files)


def test_a_file_that_is_no_view_index_is_refused(node: Node, tmp_path: Path) -> None:
    bad = tmp_path / "bad.arrow"
    bad.write_bytes(b"not arrow")
    for path in (bad, tmp_path / "none.arrow"):
        with pytest.raises(errors.ViewIndexError):
            LocalDataset(path, node.store.packs)


PINNED_ORDER = [0, 1, 6, 5, 3, 7, 4, 2]
