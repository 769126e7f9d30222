"""Workers that live for many epochs read the orders that no workers read."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import pytest

from tests.sdk.readers.loaders import Samples, interleaved, samples_of, workers

METHODS = ["fork", "spawn", "forkserver"]
COUNT, BATCH = 50, 3


def _order(epoch: int, start: int = 0, ranks: tuple[int, int] = (0, 1)) -> list[int]:
    samples = samples_of(COUNT, ranks)
    samples.epoch, samples.sample = epoch, start
    return list(samples)


@pytest.mark.parametrize("method", METHODS)
def test_workers_that_live_on_follow_the_training(method: str) -> None:
    samples = samples_of(COUNT)
    samples.load_state_dict({**samples.state_dict(), "epoch": 2, "sample": 12})
    with workers(samples, 2, method) as loader:
        assert loader.epoch(BATCH) == _order(2, 12), "what is left of a resumed epoch"
        for epoch in (3, 4):
            samples.set_epoch(epoch)
            assert loader.epoch(BATCH) == _order(epoch), "a whole one, in its own order"

        # The first worker begins, its batches are trained on, and only then the second begins.
        samples.set_epoch(5)
        first = loader.begin(0)
        samples.step()
        samples.step()
        assert interleaved([first, loader.begin(1)], BATCH) == _order(5)
        # Left in the middle, it goes on there; a saved position counts in a living loader, too.
        assert loader.epoch(BATCH) == _order(5, 2 * BATCH)
        samples.load_state_dict({**samples.state_dict(), "epoch": 1, "sample": 30})
        assert loader.epoch(BATCH) == _order(1, 30)

        with workers(samples, 3, method) as other:
            assert other.epoch(BATCH) == loader.epoch(BATCH) == _order(1, 30)
            samples.set_epoch(6)
            thirds, halves = [other.begin(0)], [loader.begin(0)]
            samples.set_epoch(7)
            thirds += [other.begin(1), other.begin(2)]
            halves += [loader.begin(1)]
            assert interleaved(thirds, BATCH) == interleaved(halves, BATCH) == _order(6)


def _train(samples: Samples, rank: int, pipe: Any) -> None:
    """Be a rank that was given samples of another process, with workers of its own."""
    samples.rank, samples.ranks = rank, 2
    samples.set_epoch(10 * rank)
    with workers(samples, 2, "fork") as loader:
        found = [loader.epoch(BATCH)]
        for epoch in range(1, 3):
            samples.set_epoch(epoch + 10 * rank)
            found.append(loader.epoch(BATCH))
    pipe.send(found)


def test_ranks_that_share_an_object_keep_their_own_positions() -> None:
    samples = samples_of(COUNT)
    samples.set_epoch(99)
    context = multiprocessing.get_context("spawn")
    pipes, ranks = [], []
    for rank in range(2):
        ours, theirs = context.Pipe()
        ranks.append(context.Process(target=_train, args=(samples, rank, theirs)))
        ranks[-1].start()
        pipes.append(ours)
    found = [pipe.recv() for pipe in pipes]
    for rank, process in enumerate(ranks):
        process.join(20)
        assert found[rank] == [_order(epoch + 10 * rank, 0, (rank, 2)) for epoch in range(3)]
    assert samples.state_dict()["epoch"] == 99


def test_a_copy_has_a_position_of_its_own() -> None:
    samples = samples_of(COUNT)
    samples.set_epoch(3)
    for twin in (copy.copy(samples), copy.deepcopy(samples), pickle.loads(pickle.dumps(samples))):
        assert list(twin) == _order(3)
        twin.set_epoch(4)
    assert (samples.epoch, list(samples)) == (3, _order(3))
