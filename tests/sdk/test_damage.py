"""One bit flipped, or the end cut off, anywhere in a version: it is noticed or does not matter.

A reader returns what is true or raises one of the SDK's errors; it never returns anything else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atom_sdk.errors import AtomError
from atom_sdk.manifests import (
    Changes,
    Commit,
    Entry,
    Listing,
    MemoryObjectStore,
    apply_changes,
    build_root,
    build_view,
    diff_roots,
    entries_table,
    layer_table,
    read_commit,
    read_layer,
    read_root,
    table_entries,
    write_commit,
    write_layer,
    write_root,
)
from atom_sdk.manifests.joined import iter_ranges
from atom_sdk.manifests.ranges import deltas
from atom_sdk.manifests.ranges.deltas import DeltaRule
from atom_sdk.manifests.roots.groups import GroupRule
from atom_sdk.packs import PackStore, verify_pack
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.local import ReadMode
from atom_sdk.readers.ranges import PackRange, StreamOptions
from atom_sdk.readers.streaming import StreamingDataset
from tests.sdk.manifests.strategies import RULE
from tests.sdk.packs.strategies import packed
from tests.tiers import examples

FILES = {f"{n % 3}/é{n:02d}.bin": bytes([n]) * (n * 97 % 700) for n in range(24)}
ALWAYS_A_DELTA = DeltaRule(min_ranges=1, max_share=1.0)
IN_GROUPS = GroupRule(flat=0, modulus=4, cap=2)
SMALL_PATIENCE = StreamOptions(limit_bytes=None, threads=1, patience_s=1.0)
Row = tuple[str, str | None, str | None, bytes]
Damage = Callable[[bytes], bytes]


@dataclass
class Version:
    """A commit with its parent: deltas, groups, layers, two packs, and its view."""

    objects: dict[str, bytes]
    commit: bytes
    parent: bytes
    packs: dict[bytes, bytes]
    view: bytes
    rows: list[Row]


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> Version:
    store, packs, entries = MemoryObjectStore(), {}, []
    names = sorted(FILES)
    for part in (names[:10], names[10:]):
        data, summary = packed({name: FILES[name] for name in part})
        packs[summary.digest] = data
        entries += [
            Entry(m.path, m.size, m.digest, "a/b", None, summary.digest, m.offset)
            for m in summary.members
        ]
    # The parent has three files with other contents, so that the child needs deltas.
    others, same = entries[::8], set(entries) - set(entries[::8])
    older = [entry._replace(digest=bytes(32)) for entry in others]
    before = build_root([entries_table([*older, *same])], store, None, RULE)
    changes = Changes(entries_table(others))
    root = apply_changes(before, changes, store, RULE, ALWAYS_A_DELTA)
    keys = [{"path": entry.path, "digest": entry.digest} for entry in entries]
    split = [key | {"value": "test" if n % 4 == 0 else "train"} for n, key in enumerate(keys)]
    label = [key | {"label": f"c{n % 3}", "source": "human"} for n, key in enumerate(keys)]
    root = root.with_layers(
        write_layer("split", "split", layer_table("split", split), store),
        write_layer("labels", "classification", layer_table("classification", label), store),
    )
    parent, child = write_root(before, store, IN_GROUPS), write_root(root, store, IN_GROUPS)
    commit = Commit("digits", child, (), "ada", "two", datetime(2026, 1, 1, tzinfo=UTC))
    path = tmp_path_factory.mktemp("view") / "view.arrow"
    build_view(root, store, path)
    rows: list[Row] = [
        (entry.path, f"c{n % 3}", "test" if n % 4 == 0 else "train", FILES[entry.path])
        for n, entry in enumerate(entries)
    ]
    kinds = {key.partition("/")[0] for key in store.objects} | {"commits"}
    assert kinds == {"ranges", "deltas", "groups", "roots", "layers", "commits"}
    digest = write_commit(commit, store)
    return Version(store.objects, digest, parent, packs, path.read_bytes(), rows)


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    """A bit flipped or the end cut off, somewhere."""
    where, bit = draw(st.floats(0, 1, exclude_max=True)), draw(st.integers(-1, 7))

    def damage(data: bytes) -> bytes:
        position = int(where * len(data))
        if bit < 0:
            return data[:position]
        flipped = bytes([data[position] ^ 1 << bit])
        return data[:position] + flipped + data[position + 1 :]

    return damage


def _cut_to_nothing(data: bytes) -> bytes:
    return b""


def _read_manifest(version: Version, store: MemoryObjectStore) -> list[object]:
    root = read_root(read_commit(version.commit, store).root, store)
    entries = [entry for table in iter_ranges(root, store) for entry in table_entries(table)]
    listing = Listing(root, store)
    diff = diff_roots(read_root(version.parent, store), root, store)
    return [
        entries,
        [listing.lookup(path) for path in FILES],
        [listing.folder("1/", limit=100), listing.totals("2/")],
        [read_layer(layer, store).to_pylist() for layer in root.layers],
        [len(diff.added), len(diff.removed), table_entries(diff.changed_to)],
    ]


@given(st.data(), damages())
@settings(max_examples=examples(60), deadline=None)
def test_a_damaged_object_of_a_manifest_is_never_read(
    version: Version, data: st.DataObject, damage: Damage
) -> None:
    # Only writers read objects that may be missing, see test_regrouping.py.
    keys = sorted(key for key in version.objects if not key.endswith(".contents"))
    key = data.draw(st.sampled_from(keys))
    with pytest.MonkeyPatch.context() as patch:
        # Deltas that were decoded before the damage are still true; here everything is read anew.
        patch.setattr(deltas, "_recent", deltas._Recent(0))
        damaged = MemoryObjectStore()
        damaged.objects = version.objects | {key: damage(version.objects[key])}
        with pytest.raises(AtomError):
            _read_manifest(version, damaged)


def test_without_damage_everything_is_read(version: Version) -> None:
    store = MemoryObjectStore()
    store.objects = version.objects
    entries, found, *_ = _read_manifest(version, store)
    assert sorted(found) == entries  # type: ignore[type-var, call-overload]
    assert [entry.path for entry in entries] == sorted(FILES)  # type: ignore[attr-defined]


class _Node:
    """A folder of packs and a view, some of it damaged, and a store with the packs as they are."""

    def __init__(self, folder: Path, version: Version) -> None:
        self.version = version
        self._folder = folder
        self.restore()

    def restore(self) -> None:
        # A folder of its own: threads of the reader before may not have ended yet.
        root = Path(tempfile.mkdtemp(dir=self._folder))
        self.store, self.index = PackStore(root), root / "view.arrow"
        self.index.write_bytes(self.version.view)
        for pack, data in self.version.packs.items():
            self.store.path(pack).write_bytes(data)

    def rows(self, mode: ReadMode) -> Iterator[Row]:
        return _rows(LocalDataset(self.index, self.store.packs, mode=mode))

    def streamed(self) -> Iterator[Row]:
        stored = _Stored(self.version.packs)
        return _rows(StreamingDataset(self.index, self.store.root, stored, SMALL_PATIENCE))


@dataclass
class _Stored:
    packs: dict[bytes, bytes]

    def doubt(self, pack: bytes) -> None:
        """It is stored once."""

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        data = self.packs[pack]
        return PackRange(memoryview(data)[start : start + length], len(data))


def _rows(dataset: LocalDataset) -> Iterator[Row]:
    for sample in dataset:
        yield sample.path, sample.label, sample.split, bytes(sample.data)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, version: Version) -> _Node:
    return _Node(tmp_path_factory.mktemp("node"), version)


def test_without_damage_a_node_reads_every_row(node: _Node) -> None:
    node.restore()
    assert list(node.rows("mmap")) == list(node.rows("pread")) == node.version.rows
    assert list(node.streamed()) == node.version.rows


def _true_until_an_error(rows: Callable[[], Iterator[Row]], truth: list[Row]) -> None:
    seen: list[Row] = []
    try:
        seen.extend(rows())
    except AtomError:
        assert seen == truth[: len(seen)]
    else:
        assert seen == truth


@given(damages(), st.integers(0, 2))
@example(_cut_to_nothing, 0)
@example(_cut_to_nothing, 2)
@settings(max_examples=examples(60), deadline=None)
def test_a_damaged_pack_on_a_node_gives_no_wrong_bytes(
    node: _Node, damage: Damage, which: int
) -> None:
    node.restore()
    # 2: the view itself.
    paths = [*map(node.store.path, node.version.packs), node.index]
    paths[which].write_bytes(damage(paths[which].read_bytes()))
    for mode in ("mmap", "pread"):
        _true_until_an_error(lambda: node.rows(mode), node.version.rows)  # noqa: B023
    _true_until_an_error(node.streamed, node.version.rows)


@given(damages(), st.booleans())
@example(_cut_to_nothing, True)
@settings(max_examples=examples(40), deadline=None)
def test_a_damaged_pack_that_arrives_is_fetched_again(
    node: _Node, damage: Damage, is_state: bool
) -> None:
    node.restore()
    pack = next(iter(node.version.packs))
    data = node.store.path(pack).read_bytes()
    node.store.path(pack).unlink()
    partial = node.store.root / "partial" / pack.hex()
    partial.parent.mkdir(exist_ok=True)
    contents = {".data": data, ".blocks": b"\1"}
    changed = ".blocks" if is_state else ".data"
    for suffix, content in contents.items():
        damaged = damage(content) if suffix == changed else content
        partial.with_suffix(suffix).write_bytes(damaged)
    _true_until_an_error(node.streamed, node.version.rows)


@given(damages())
@settings(max_examples=examples(40), deadline=None)
def test_a_damaged_pack_is_refused_where_packs_are_verified(
    node: _Node, version: Version, damage: Damage
) -> None:
    pack, data = next(iter(version.packs.items()))
    with pytest.raises(AtomError):
        verify_pack([damage(data)], pack)
    node.store.remove(pack)
    with pytest.raises(AtomError):
        node.store.fill(pack, [damage(data)])
    assert not node.store.has(pack)
