"""Requests to the kernel to read ahead: single samples, or windows of packs that are read whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from atom_sdk import errors
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.epochs import EpochSamples
from atom_sdk.readers.maps import WINDOW_BYTES, PackMaps
from atom_sdk.readers.torch import TorchDataset
from atom_sdk.run.split import split_of
from tests.sdk.readers.conftest import Node


class Recording(PackMaps):
    """Remembers which windows it asked the kernel for."""

    def __init__(self, packs: Sequence[bytes], folder: Path) -> None:
        super().__init__(packs, folder)
        self.windows: list[tuple[int, int]] = []

    def ask(self, pack_id: int, start: int) -> None:
        self.windows.append((pack_id, start))
        super().ask(pack_id, start)


@pytest.fixture
def dataset(node: Node) -> LocalDataset:
    dataset = node.open()
    dataset._maps = Recording(dataset.index.packs, dataset.pack_dir)
    return dataset


def requested_windows(dataset: LocalDataset) -> list[tuple[int, int]]:
    maps = dataset._maps
    assert isinstance(maps, Recording)
    return maps.windows


def windows_with_samples(dataset: LocalDataset) -> set[tuple[int, int]]:
    index = dataset.index
    return {
        (int(pack), start)
        for pack, offset, size in zip(index.pack_ids, index.offsets, index.sizes, strict=True)
        for start in range(
            int(offset) // WINDOW_BYTES * WINDOW_BYTES, int(offset + size), WINDOW_BYTES
        )
    }


def test_an_epoch_asks_for_every_window_once_and_the_next_asks_again(
    node: Node, dataset: LocalDataset
) -> None:
    for epoch in (1, 2):
        samples = {sample.path: bytes(sample.data) for sample in dataset.iter_shuffled(7, epoch)}
        assert samples == node.files
        counts = Counter(requested_windows(dataset))
        assert set(counts) >= windows_with_samples(dataset)
        assert set(counts.values()) == {epoch}


def test_few_rows_ask_for_no_window(dataset: LocalDataset) -> None:
    assert len(list(dataset.read_many([3, 150, 299]))) == 3
    assert requested_windows(dataset) == []


def test_what_does_not_fit_into_memory_is_asked_for_by_sample(dataset: LocalDataset) -> None:
    dataset._fits = False
    assert len(list(dataset)) == 300
    assert requested_windows(dataset) == []


def test_batches_of_an_epoch_ask_for_windows(node: Node, dataset: LocalDataset) -> None:
    loaded = TorchDataset(dataset, lambda sample: sample.row)
    rows = np.random.default_rng(1).permutation(300).tolist()
    for start in range(0, 300, 30):
        assert loaded.__getitems__(rows[start : start + 30]) == rows[start : start + 30]
    assert set(Counter(requested_windows(dataset)).values()) == {1}
    assert set(requested_windows(dataset)) >= windows_with_samples(dataset)


def test_the_ranks_share_of_an_epoch_counts_not_the_workers(dataset: LocalDataset) -> None:
    view = split_of(dataset, None)
    samples = EpochSamples(view, lambda sample: sample.row, batch_size=300)
    samples.worker = lambda: (1, 2)  # type: ignore[method-assign]
    assert list(samples) == []
    samples.batch_size = 150
    assert len(list(samples)) == 150
    assert requested_windows(dataset)


def test_a_missing_pack_is_named_by_whoever_reads_it(node: Node, dataset: LocalDataset) -> None:
    missing = dataset.index.packs[int(dataset.index.pack_ids[-1])]
    node.store.remove(missing)
    with pytest.raises(errors.PackMissingError) as caught:
        list(dataset)
    assert caught.value.pack == missing.hex()


def test_a_pack_that_was_cut_is_no_fault_of_the_asking(node: Node, dataset: LocalDataset) -> None:
    pack = dataset.index.packs[int(dataset.index.pack_ids[0])]
    node.store.path(pack).chmod(0o644)
    node.store.path(pack).write_bytes(b"")
    with pytest.raises(errors.SampleDigestMismatchError):
        list(dataset)
