"""Layers that are made piece by piece are, to the last byte, those that are made in memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.datasets.versions.engines import large_changes
from atom.datasets.versions.engines.changes import ChangesFile, decode_changes
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import build_version, publish_rows
from atom_sdk.errors import AtomError, EmptyDatasetError
from atom_sdk.manifests import MemoryObjectStore, Root
from atom_sdk.manifests.layers import pieces as layer_pieces
from atom_sdk.manifests.layers.deltas import LayerDeltaRule
from atom_sdk.manifests.layers.layers import change_layer, layer_table, read_layer, write_layer
from atom_sdk.manifests.layers.pieces import change_layer_pieces
from atom_sdk.manifests.splits.requests import SplitRequest
from tests.tiers import examples

_PIECE_ROWS = 5
_PATHS = [f"{folder}/é{n:02d}" for folder in ("", "a", "a/b", "c", "new") for n in range(8)]
_CHANGE = st.tuples(
    st.sampled_from(["put", "put", "put", "delete"]),
    st.integers(1, 3),
    st.sampled_from([None, None, "cat", "dog"]),
    st.sampled_from([None, None, "val", "test"]),
    st.sampled_from([None, '{"p":1}', '{"p":"x"}']),
)
_CHANGES = st.dictionaries(st.sampled_from(_PATHS), _CHANGE, min_size=1)
_SPLITS = st.none() | st.fixed_dictionaries(
    {
        "test": st.sampled_from([0, 2, "20%"]),
        "val": st.sampled_from([0, "10%"]),
        "stratify": st.booleans(),
        "group_by": st.sampled_from(["", "folder", "attributes.p"]),
        "redraw": st.booleans(),
        "where": st.sampled_from(["", "", "label = 'cat'", "path LIKE 'a%'"]),
    }
)
_STEP = st.tuples(_CHANGES, st.booleans(), st.booleans(), _SPLITS, st.booleans())


def _file(path: Path, changes: dict[str, Any]) -> Path:
    rows = [
        {
            "op": op,
            "path": name.lstrip("/"),
            "size": number,
            "digest": bytes([number]) * 32,
            "pack": b"p" * 32,
            "offset": 512,
            "attributes": attributes,
            "label": label,
            "split": split,
        }
        for name, (op, number, label, split, attributes) in changes.items()
    ]
    table = pa.Table.from_pylist(rows).sort_by("path")
    for column in ("attributes", "label", "split"):
        index = table.schema.get_field_index(column)
        table = table.set_column(index, column, table[column].cast(pa.string()))
    pq.write_table(table, path)
    return path


def _plan(changes: ChangesFile, step: Any, previous: SplitRequest | None) -> VersionPlan:
    _, labels, relabels, split, is_under = step
    request = None if split is None else SplitRequest.from_json(split)
    prefixes = ("a/b",) if is_under else ()
    return VersionPlan(changes, labels, prefixes, request, previous, relabels)


def _built(parent: Root | None, plan: VersionPlan, large: int) -> Any:
    try:
        return build_version(parent, plan, _STORE, large)
    except EmptyDatasetError:
        # The message depends on how the entries are merged.
        return "empty"
    except AtomError as error:
        return type(error).__name__, str(error)


_STORE = MemoryObjectStore()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(_STEP, min_size=1, max_size=4))
def test_a_version_made_in_pieces_is_the_one_made_in_memory(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("changes")
    pieces: Root | None = None
    at_once: Root | None = None
    previous: SplitRequest | None = None
    for step in steps:
        path = _file(folder / "changes", step[0])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_changes, "_PIECE_ROWS", _PIECE_ROWS)
            patch.setattr(layer_pieces, "PIECE_ROWS", _PIECE_ROWS)
            read = large_changes.read_changes(path, folder, large_rows=0)
            ours = _built(pieces, _plan(read, step, previous), 0)
        known = _built(at_once, _plan(decode_changes(path.read_bytes()), step, previous), 10**9)
        if not isinstance(known, Root):
            assert ours == known
            continue
        assert (ours.content, ours.layers) == (known.content, known.layers)
        pieces, at_once = ours, known
        previous = None if step[3] is None else SplitRequest.from_json(step[3])


_ROWS = st.dictionaries(
    st.integers(0, 40), st.tuples(st.integers(1, 2), st.sampled_from(["cat", "dog"]))
)


def _layer(rows: dict[int, Any]) -> pa.Table:
    return layer_table(
        "classification",
        (
            {"path": f"{n:03d}", "digest": bytes([d]) * 32, "label": label, "source": "human"}
            for n, (d, label) in rows.items()
        ),
    )


def _pairs(old: pa.Table, new: pa.Table) -> list[tuple[pa.Table, pa.Table]]:
    """Both tables, cut at the same paths."""
    bounds = ["", "007", "012", "030", "~"]
    cuts = pairwise(bounds)
    return [tuple(_between(table, *cut) for table in (old, new)) for cut in cuts]


def _between(table: pa.Table, low: str, high: str) -> pa.Table:
    return table.filter((pa.compute.field("path") >= low) & (pa.compute.field("path") < high))


@given(st.lists(_ROWS.filter(bool), min_size=2, max_size=5))
def test_deltas_of_layers_in_pieces_are_those_made_in_memory(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[int, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("layer")
    rule = LayerDeltaRule(min_rows=5, max_share=0.5, max_depth=3)
    store = MemoryObjectStore()
    table = _layer(states[0])
    ref = write_layer("labels", "classification", table, store)
    for state in states[1:]:
        after = _layer(state)
        known = change_layer(ref, after, store, rule)
        pairs = _pairs(table, after)
        kind = ("labels", "classification")
        assert change_layer_pieces(ref, kind, pairs, store, folder, rule) == known
        ref, table = known, after
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layer_pieces, "PIECE_ROWS", _PIECE_ROWS)
            read = list(layer_pieces.layer_pieces(ref, store, folder))
        assert pa.concat_tables(read).equals(read_layer(ref, store))


def test_labels_that_people_gave_are_drawn_by(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    changes = dict.fromkeys(_PATHS, ("put", 1, None, None, None))
    read = decode_changes(_file(tmp_path / "changes", changes).read_bytes())
    first = build_version(None, VersionPlan(read), store)
    said = [
        {"path": p.lstrip("/"), "digest": b"\1" * 32, "label": "cat", "source": "human"}
        for p in _PATHS[::2]
    ]
    rows = layer_table("classification", said)
    labelled = publish_rows(first, "labels", "classification", rows, store)
    plan = VersionPlan(decode_changes(_empty()), split=SplitRequest.from_json({"test": 5}))
    known = build_version(labelled, plan, store)
    assert known.layers == build_version(labelled, plan, store, large_entries=0).layers
    assert known.layer("split") is not None


def _empty() -> bytes:
    sink = pa.BufferOutputStream()
    schema = pa.schema([("op", pa.string()), ("path", pa.string())])
    with pa.ipc.new_file(sink, schema):
        pass
    return bytes(sink.getvalue())
