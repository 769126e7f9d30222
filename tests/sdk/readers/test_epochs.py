"""The order of samples: the same for any ranks and workers, and resumed with others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from atom_sdk.errors import ResumeMismatchError
from atom_sdk.readers import Sample
from atom_sdk.readers.epochs import EpochOptions, Epochs, EpochSampler, EpochSamples
from atom_sdk.readers.order import canonical_order
from tests.sdk.readers.conftest import Node

MIB = 1 << 20


@dataclass
class Numbers:
    """Samples of given sizes; a test of the order needs no bytes."""

    sizes_bytes: NDArray[np.int64]
    content: bytes = b"\7" * 32

    def read_many(self, rows: Iterable[int], *, epoch_rows: int = 0) -> Iterator[Sample]:
        return iter(rows)  # type: ignore[arg-type]


@st.composite
def numbers(draw: st.DrawFn) -> Numbers:
    sizes = draw(st.lists(st.integers(0, 20 * MIB), max_size=120))
    return Numbers(np.array(sizes, np.int64))


def _identity(sample: Sample) -> Sample:
    return sample


class _Worker(EpochSamples[Sample]):
    place = (0, 1)

    def worker(self) -> tuple[int, int]:
        return self.place


def _epoch(
    samples: Numbers, state: dict[str, object] | None, ranks: int, workers: int, batch: int
) -> list[list[list[int]]]:
    """The batches of each rank, the way DataLoader takes them from workers."""
    found: list[list[list[int]]] = []
    for rank in range(ranks):
        queues = []
        for worker in range(workers):
            data = _Worker(samples, _identity, batch, EpochOptions(3, 2), (rank, ranks))
            data.place = (worker, workers)
            if state is not None:
                data.load_state_dict(state)
            rows: list[int] = list(data)  # type: ignore[arg-type]
            queues.append([rows[at : at + batch] for at in range(0, len(rows), batch)])
        batches = []
        while any(queues):
            batches += [queue.pop(0) for queue in queues if queue]
        found.append(batches)
    return found


def _steps(ranks: list[list[list[int]]], count: int) -> list[int]:
    """The samples of the first steps of all ranks."""
    return [row for rank in ranks for batch in rank[:count] for row in batch]


@given(numbers(), st.integers(1, 5), st.integers(0, 3), st.integers(1, 6))
def test_an_order_holds_every_sample_once(
    samples: Numbers, nodes: int, epoch: int, seed: int
) -> None:
    order = canonical_order(samples.sizes_bytes, samples.content, seed, epoch, nodes)
    assert sorted(order.tolist()) == list(range(len(samples.sizes_bytes)))
    again = canonical_order(samples.sizes_bytes, samples.content, seed, epoch, nodes)
    assert order.tolist() == again.tolist()


@given(numbers(), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
def test_ranks_and_workers_read_every_sample_once_in_one_order(
    samples: Numbers, ranks: int, workers: int, batch: int
) -> None:
    found = _epoch(samples, None, ranks, workers, batch)
    flat = [[row for group in rank for row in group] for rank in found]
    order = Epochs(samples, EpochOptions(3, 2)).order().tolist()
    # Rank r has every `ranks`-th position, in the same order for any number of workers.
    assert flat == [order[rank::ranks] for rank in range(ranks)]


@given(
    numbers(), st.tuples(*[st.integers(1, 8)] * 2), st.tuples(*[st.integers(1, 3)] * 2), st.data()
)
def test_a_resumed_epoch_repeats_no_sample_and_loses_none(
    samples: Numbers, ranks: tuple[int, int], workers: tuple[int, int], data: st.DataObject
) -> None:
    batch = 3
    before = _epoch(samples, None, ranks[0], workers[0], batch)
    # As many steps as every rank could do: beyond, some have ended already.
    steps = data.draw(st.integers(0, min(map(len, before), default=0)))
    tracker = EpochSamples(samples, _identity, batch, EpochOptions(3, 2), (0, ranks[0]))
    for _ in range(steps):
        tracker.step()
    first = _steps(before, steps)
    after = _epoch(samples, tracker.state_dict(), ranks[1], workers[1], batch)
    rest = _steps(after, len(samples.sizes_bytes))
    assert sorted(first + rest) == list(range(len(samples.sizes_bytes)))
    order = Epochs(samples, EpochOptions(3, 2)).order().tolist()
    assert sorted(first) == sorted(order[: len(first)])


def test_eight_ranks_become_six_in_the_middle_of_an_epoch() -> None:
    samples = Numbers(np.full(1000, MIB, np.int64))
    trained = EpochSampler(samples, ranks=(0, 8))
    for _ in range(10):
        trained.step(batch_size=4)
    rest = []
    for rank in range(6):
        sampler = EpochSampler(samples, ranks=(rank, 6))
        sampler.load_state_dict(trained.state_dict())
        rows = list(sampler)
        assert len(sampler) == len(rows)
        rest.append(rows)
    order = trained.order().tolist()
    interleaved = [rest[position % 6][position // 6] for position in range(1000 - 320)]
    assert interleaved == order[320:]


def test_a_canonical_node_reads_few_packs_at_a_time() -> None:
    sizes = np.full(4096, MIB, np.int64)
    order = canonical_order(sizes, b"\1" * 32, seed=1, epoch=0, nodes=2)
    for node in range(2):
        own = order[node::2]
        # 128 chunks of 32 MiB in all; a window of a node has 8, and two windows meet at an edge.
        packs_in_reach = [len(set((own[at : at + 64] + 1) // 32)) for at in range(0, len(own), 64)]
        assert max(packs_in_reach) <= 16
        assert np.mean(packs_in_reach) < 11
    assert np.corrcoef(order, np.arange(4096))[0, 1] < 0.1


def test_an_order_changes_with_seed_epoch_and_content_only() -> None:
    sizes = np.arange(500, dtype=np.int64) * 1000
    base = canonical_order(sizes, b"\1" * 32, 1, 0).tolist()
    others = [
        canonical_order(sizes, b"\2" * 32, 1, 0),
        canonical_order(sizes, b"\1" * 32, 2, 0),
        canonical_order(sizes, b"\1" * 32, 1, 1),
        canonical_order(sizes, b"\1" * 32, 1, 0, nodes=2),
    ]
    assert all(other.tolist() != base for other in others)
    # A run that resumes with a newer library must see the order that it began with.
    pinned = canonical_order(np.full(9, 16 * MIB, np.int64), b"\1" * 32, seed=42, epoch=3, nodes=2)
    assert pinned.tolist() == PINNED_ORDER


@pytest.mark.parametrize(("uneven", "lengths"), [("exact", [4, 3, 3]), ("drop", [3] * 3)])
def test_an_end_that_does_not_divide_is_dealt_as_chosen(uneven: str, lengths: list[int]) -> None:
    samples = Numbers(np.full(10, 5, np.int64))
    options = EpochOptions(uneven=uneven)  # type: ignore[arg-type]
    samplers = [EpochSampler(samples, options, (rank, 3)) for rank in range(3)]
    assert [len(list(sampler)) for sampler in samplers] == lengths
    assert list(map(len, samplers)) == lengths


def test_padding_repeats_the_first_samples_of_the_order() -> None:
    samples = Numbers(np.full(10, 5, np.int64))
    samplers = [EpochSampler(samples, EpochOptions(uneven="pad"), (rank, 3)) for rank in range(3)]
    rows = [list(sampler) for sampler in samplers]
    assert [len(own) for own in rows] == list(map(len, samplers)) == [4, 4, 4]
    order = samplers[0].order().tolist()
    assert [rows[position % 3][position // 3] for position in range(12)] == order + order[:2]


@pytest.mark.parametrize(
    "change",
    [
        {"content": "00"},
        {"seed": 9},
        {"samples": 11},
        {"canonical_nodes": 7},
        {"sample": 11},
        {"sample": -1},
        {"epoch": None},
    ],
)
def test_a_position_of_another_order_is_refused(change: dict[str, object]) -> None:
    epochs = Epochs(Numbers(np.full(10, 5, np.int64)))
    with pytest.raises(ResumeMismatchError):
        epochs.load_state_dict({**epochs.state_dict(), **change})


def test_the_next_epoch_begins_at_the_front_and_a_resumed_one_does_not() -> None:
    epochs = Epochs(Numbers(np.full(10, 5, np.int64)))
    epochs.advance(4)
    epochs.set_epoch(0)
    assert epochs.state_dict()["sample"] == 4
    epochs.set_epoch(1)
    assert epochs.state_dict()["sample"] == 0


def test_samples_are_read_and_decoded(node: Node) -> None:
    data = EpochSamples(node.open(), lambda sample: (sample.path, bytes(sample.data)))
    assert dict(data) == node.files


PINNED_ORDER = [7, 3, 5, 2, 0, 1, 8, 4, 6]
