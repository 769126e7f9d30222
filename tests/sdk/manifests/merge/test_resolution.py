"""Conflicts settled one by one, against a merge of plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests import (
    MemoryObjectStore,
    Merged,
    MergePlan,
    Policy,
    Resolution,
    Root,
    build_root,
    entries_table,
    layer_table,
    merge_roots,
    write_layer,
)
from atom_sdk.manifests.merge.resolution import Side
from tests.sdk.manifests.merge.test_merge import (
    Files,
    Labels,
    files_of,
    labels_of,
    root_of,
    with_labels,
)
from tests.sdk.manifests.strategies import RULE, entry
from tests.tiers import examples

Name = tuple[str, str, str]
Version = tuple[Files, Labels]
Settle = Callable[[str, str, str], str]
_Rows = Mapping[str, tuple[Any, ...]]
_FIELDS = ("label", "audit_state")

_paths = st.sampled_from(["a", "b", "c", "d"])
_files = st.dictionaries(_paths, st.integers(0, 2), min_size=1)
_labels = st.dictionaries(
    _paths, st.tuples(st.sampled_from(["cat", "dog", "cow"]), st.sampled_from(["ok", "bad"]))
)
_versions = st.tuples(_files, _labels)
_parts = st.sampled_from([("", ""), ("labels", ""), *(("labels", name) for name in _FIELDS)])
_sides = st.sampled_from(["ours", "theirs"])
_names = st.builds(lambda path, part: (path, *part), _paths, _parts)


class Naive:
    """Merges three versions path by path, and knows what clashed."""

    def __init__(self, versions: tuple[Version, ...], settle: Settle) -> None:
        self._settle = settle
        self.clashes: set[Name] = set()
        base, ours, theirs = ({path: (n,) for path, n in files.items()} for files, _ in versions)
        self.files = self._merged("", ("",), base, ours, theirs)
        moved = self._moves(base, ours, theirs), self._moves(base, theirs, ours)
        rows = (
            self._present(files, labels, followed)
            for (files, labels), followed in zip(
                versions, (moved, moved[1:], moved[:1]), strict=True
            )
        )
        self.labels = self._merged("labels", _FIELDS, *rows)

    def _moves(self, base: _Rows, mover: _Rows, keeper: _Rows) -> dict[str, str]:
        """Where the mover put files that the keeper left where they were."""
        came = [path for path in sorted(self.files) if path not in base and path not in keeper]
        moves = {}
        for path in sorted(base):
            is_gone = path not in mover and path not in self.files
            there = next((new for new in came if self.files[new] == base[path]), None)
            if is_gone and keeper.get(path) == base[path] and there:
                moves[path] = there
                came.remove(there)
        return moves

    def _present(
        self, files: Files, labels: Labels, moved: Sequence[dict[str, str]]
    ) -> dict[str, tuple[Any, ...]]:
        """The labels of files that the merged version has, where it has them."""
        there = {path: (files[path], row) for path, row in labels.items() if path in files}
        for moves in moved:
            there = {moves.get(path, path): row for path, row in there.items()}
        return {path: row for path, (n, row) in there.items() if self.files.get(path) == (n,)}

    def _merged(
        self, layer: str, fields: tuple[str, ...], *sides: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        merged = {}
        for path in {path for side in sides for path in side}:
            base, ours, theirs = (side.get(path) for side in sides)
            if ours and theirs:
                olds = base or (None,) * len(fields)
                merged[path] = tuple(
                    self._merge_value((path, layer, name), *values)
                    for name, *values in zip(fields, olds, ours, theirs, strict=True)
                )
            elif row := self._merge_value((path, layer, ""), base, ours, theirs):
                merged[path] = row
        return merged

    def _merge_value(self, name: Name, base: Any, ours: Any, theirs: Any) -> Any:
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        self.clashes.add(name)
        return theirs if self._settle(*name) == "theirs" else ours


def chosen(named: Mapping[Name, Side], policy: Policy) -> Settle:
    """Settles a path by the most exact name, else by the policy."""

    def settle(path: str, layer: str, field: str) -> str:
        exact = [(path, layer, field), (path, layer, ""), (path, "", "")]
        return next((named[name] for name in exact if name in named), policy)

    return settle


@settings(max_examples=examples(60), deadline=None)
@given(
    st.tuples(_versions, _versions, _versions),
    st.dictionaries(_names, _sides, max_size=5),
    st.sampled_from(["fail", "ours", "theirs"]),
)
def test_each_conflict_is_settled_as_it_is_named_and_the_others_by_the_policy(
    versions: tuple[Version, ...], named: Mapping[Name, Side], policy: Policy
) -> None:
    expected = Naive(versions, chosen(named, policy))
    store = MemoryObjectStore()
    roots = [with_labels(root_of(files, store), labels, files, store) for files, labels in versions]
    resolutions = tuple(
        Resolution(path, side, layer, field) for (path, layer, field), side in named.items()
    )
    try:
        merged = merged_of(roots, store, MergePlan(policy, resolutions, rule=RULE))
    except EmptyDatasetError:
        assert not expected.files
        return

    left = {name for name in expected.clashes if chosen(named, "fail")(*name) == "fail"}
    assert {(each.path, each.layer, each.field) for each in merged.conflicts} == left
    assert merged.settled == len(expected.clashes) - len(left)
    assert (merged.root is None) == (policy == "fail" and bool(left))
    if merged.root is not None:
        digests = files_of(merged.root, store)
        assert digests == {path: entry(path, n).digest for path, (n,) in expected.files.items()}
        rows = labels_of(merged.root, store)
        assert all(row["digest"] == digests[path] for path, row in rows.items())
        assert {p: tuple(r[name] for name in _FIELDS) for p, r in rows.items()} == expected.labels
    idle = {(each.path, each.layer, each.field) for each in merged.idle}
    disputed = {path for path, layer, _ in expected.clashes if not layer}
    assert idle == {
        name
        for name in named
        if name[0] not in disputed and not any(covers(name, clash) for clash in expected.clashes)
    }


def covers(name: Name, clash: Name) -> bool:
    """Whether a name means a conflict, by itself or among others."""
    path, layer, field = name
    return path == clash[0] and layer in ("", clash[1]) and field in ("", clash[2])


def merged_of(roots: Sequence[Root], store: MemoryObjectStore, plan: MergePlan) -> Merged:
    """Merge a base and two sides."""
    base, ours, theirs = roots
    return merge_roots(base, ours, theirs, store, plan)


@pytest.mark.parametrize(
    ("take", "left"),
    [("ours", {"x/y", "z"}), ("theirs", {"x", "z"})],
)
def test_a_file_and_a_folder_of_one_name_are_settled_by_their_path(
    take: Side, left: set[str]
) -> None:
    store = MemoryObjectStore()
    base, ours, theirs = {"z": 0}, {"z": 0, "x/y": 1}, {"z": 0, "x": 1}
    roots = [root_of(each, store) for each in (base, ours, theirs)]
    merged = merged_of(roots, store, MergePlan(resolutions=(Resolution("x", take),)))
    assert merged.root is not None
    assert set(files_of(merged.root, store)) == left
    assert (merged.conflicts_total, merged.settled, merged.idle) == (0, 1, ())


def test_a_folder_that_is_in_the_way_only_if_its_file_stays_may_be_settled_beforehand() -> None:
    store = MemoryObjectStore()
    base, ours, theirs = {"z": 0, "x/y": 0}, {"z": 0, "x/y": 1}, {"z": 0, "x": 1}
    roots = [root_of(each, store) for each in (base, ours, theirs)]
    named = (Resolution("x/y", "theirs"), Resolution("x", "theirs"))
    merged = merged_of(roots, store, MergePlan(resolutions=named))
    assert merged.root is not None
    assert set(files_of(merged.root, store)) == {"x", "z"}
    assert merged.idle == ()
    both = merged_of(roots, store, MergePlan("ours"))
    assert [each.path for each in both.conflicts] == ["x/y", "x"]


def test_a_file_that_is_kept_by_name_is_not_lost_to_a_folder_that_is_taken_by_name() -> None:
    store = MemoryObjectStore()
    base, ours, theirs = {"z": 0, "x": 0}, {"z": 0, "x": 1}, {"z": 0, "x/y": 1}
    roots = [root_of(each, store) for each in (base, ours, theirs)]
    named = (Resolution("x", "ours"), Resolution("x/y", "theirs"))
    merged = merged_of(roots, store, MergePlan(resolutions=named))
    assert merged.root is None
    assert [(each.path, each.other_path) for each in merged.conflicts] == [("x/y", "x")]
    agreed = (Resolution("x", "theirs"), Resolution("x/y", "theirs"))
    merged = merged_of(roots, store, MergePlan(resolutions=agreed))
    assert merged.root is not None
    assert set(files_of(merged.root, store)) == {"x/y", "z"}


def test_a_file_that_is_settled_takes_its_labels_along() -> None:
    store = MemoryObjectStore()
    files = {"a": 0, "z": 0}
    base = with_labels(root_of(files, store), {"a": ("cat", "ok")}, files, store)
    ours = root_of({"z": 0}, store)
    changed = entries_table([entry("a")._replace(media_type="text/csv"), entry("z")])
    theirs = build_root([changed], store, rule=RULE)
    theirs = with_labels(theirs, {"a": ("dog", "ok")}, files, store)
    # Both sides' rows clash once the file stays: the name of the file settles them too.
    merged = merge_roots(
        base, ours, theirs, store, MergePlan(resolutions=(Resolution("a", "theirs"),))
    )
    assert merged.root is not None
    assert labels_of(merged.root, store)["a"]["label"] == "dog"
    assert (merged.settled, merged.idle) == (2, ())


def test_a_layer_of_two_kinds_is_settled_by_its_name() -> None:
    store = MemoryObjectStore()
    base = root_of({"a": 0}, store)
    ours = with_labels(base, {"a": ("cat", "ok")}, {"a": 0}, store)
    digest = entry("a", 0).digest
    table = layer_table("split", [{"path": "a", "digest": digest, "value": "test"}])
    theirs = base.with_layers(write_layer("labels", "split", table, store))
    plan = MergePlan(resolutions=(Resolution("", "theirs", "labels"),))
    merged = merge_roots(base, ours, theirs, store, plan)
    assert merged.root is not None
    assert [ref.kind for ref in merged.root.layers] == ["split"]
    assert merged.settled == 1
