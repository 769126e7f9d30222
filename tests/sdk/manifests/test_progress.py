"""Long work on versions tells how far it is, and stops when the one who is told says so."""

from __future__ import annotations

import pytest

from atom_sdk.manifests import MemoryObjectStore, MergePlan, Root, build_root, merge_roots
from atom_sdk.manifests.merge.merge import EMPTY_ROOT
from atom_sdk.manifests.progress import Stage, watched_ranges
from tests.sdk.manifests.strategies import RULE, table_of

BASE = {f"{name:02}": 0 for name in range(40)}


class RecordedStages:
    """Keeps what it is told as [stage, done, total], and stops the work after so many words."""

    def __init__(self, patience: int = 1000) -> None:
        self.stages: list[tuple[Stage, list[int]]] = []
        self._patience = patience

    def begin(self, stage: Stage, total: int) -> None:
        self.stages.append((stage, [0, total]))

    def advance(self, rows: int) -> None:
        self.stages[-1][1][0] += rows
        self._patience -= 1
        if not self._patience:
            raise InterruptedError


def sides(store: MemoryObjectStore) -> tuple[Root, Root, Root]:
    """A base, and two sides that changed many of its files, in other places."""
    ours = {name: int(name < "15") for name in BASE}
    theirs = {name: 2 * int(name > "25") for name in BASE}
    built = [build_root([table_of(files)], store, rule=RULE) for files in (BASE, ours, theirs)]
    return built[0], built[1], built[2]


def test_a_merge_tells_each_stage_to_its_last_row() -> None:
    store, told = MemoryObjectStore(), RecordedStages()
    base, ours, theirs = sides(store)

    merged = merge_roots(base, ours, theirs, store, MergePlan(rule=RULE, watch=told))

    assert merged == merge_roots(base, ours, theirs, store, MergePlan(rule=RULE))
    assert [stage for stage, _ in told.stages] == ["comparing", "comparing", "labels", "writing"]
    assert all(done == total for _, (done, total) in told.stages)
    # Both sides of what differs are compared; of 40 files, 15 changed here and 14 there.
    assert told.stages[0][1][1] >= 2 * 15
    assert 14 <= told.stages[3][1][1] < 40


def test_a_merge_is_stopped_between_two_ranges() -> None:
    store = MemoryObjectStore()
    base, ours, theirs = sides(store)
    before = dict(store.objects)

    with pytest.raises(InterruptedError):
        merge_roots(
            base, ours, theirs, store, MergePlan(rule=RULE, watch=RecordedStages(patience=2))
        )
    assert store.objects == before


def test_a_range_counts_when_the_next_one_is_asked_for() -> None:
    told = RecordedStages()
    parts = sides(MemoryObjectStore())[0].ranges

    reading = watched_ranges(parts, told)
    next(reading)
    assert told.stages == [("reading", [0, 40])]
    next(reading)
    assert told.stages == [("reading", [parts[0].count, 40])]
    assert len(list(reading)) == len(parts) - 2
    assert told.stages == [("reading", [40, 40])]


def test_nothing_to_do_is_a_stage_of_no_rows() -> None:
    told = RecordedStages()

    list(watched_ranges(EMPTY_ROOT.ranges, told))

    assert told.stages == [("reading", [0, 0])]
