"""Needed parts of packs, the choice of packs to repack, and the new packs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.datasets.packs.engines.pack_index import build_index, index_passing, is_looked_into
from atom.datasets.retention.engines.pack_use import Needed, PackingRules, PackUse, worth_packing
from atom.datasets.retention.engines.repack import NewPack, TakenFiles
from atom_sdk.errors import ManifestCorruptError, PackDigestMismatchError
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.packs.indexer import pass_pack, verify_pack
from atom_sdk.packs.plan import PackLimits
from tests.datasets.pushing import MadePack, corrupted, make_pack, png

BLOCK = 4096
rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 50), st.integers(0, 20_000)), max_size=60
)


def entries(found: list[tuple[int, int, int]]) -> pa.Table:
    """Rows (pack, block, size); a size follows from its place, as in a real pack."""
    return pa.table(
        {
            "pack": pa.array([bytes([pack]) * 32 for pack, _, _ in found], DIGEST),
            "offset": pa.array([block * BLOCK for _, block, _ in found], pa.int64()),
            "size": pa.array([pack * 5000 + block for pack, block, _ in found], pa.int64()),
        }
    )


@given(st.lists(rows, max_size=5))
def test_each_place_counts_once_however_often_it_is_named(
    tables: list[list[tuple[int, int, int]]],
) -> None:
    use = PackUse()
    for table in tables:
        use.add(entries(table))
    found = dict(use.needed())

    places = {(pack, block) for table in tables for pack, block, _ in table}
    assert set(found) == {bytes([pack]) * 32 for pack, _ in places}
    for pack in {pack for pack, _ in places}:
        blocks = sorted(block for each, block in places if each == pack)
        needed = found[bytes([pack]) * 32]
        assert needed.offsets.tolist() == [block * BLOCK for block in blocks]
        sizes = [pack * 5000 + block + 512 for block in blocks]
        assert needed.packed_bytes == sum(-(-size // BLOCK) * BLOCK for size in sizes)


def test_a_place_is_in_the_group_that_named_it_first() -> None:
    use = PackUse()
    use.add(entries([(1, 1, 0), (1, 2, 0)]), 4)
    use.add(entries([(1, 1, 0), (1, 3, 0)]), 7)
    ((_, needed),) = use.needed()
    assert needed.groups.tolist() == [4, 4, 7]
    assert needed.group == 4


def test_what_stays_at_a_source_is_in_no_pack() -> None:
    use = PackUse()
    nothing = pa.table(
        {"pack": pa.array([None], DIGEST), "offset": pa.array([None], pa.int64()), "size": [5]}
    )
    use.add(nothing)
    assert not dict(use.needed())


def chosen(
    sizes: list[int], needed_bytes: list[int], groups: list[int] | None = None, **rules: float
) -> list[int]:
    names = [bytes([number]) * 32 for number in range(len(sizes))]
    nothing = np.empty(0, np.int64)
    groups = groups or [0] * len(sizes)
    needed = {
        name: Needed(nothing, np.array([groups[name[0]]], np.int32), size)
        for name, size in zip(names, needed_bytes, strict=True)
        if size >= 0
    }
    given = PackingRules(**{"small_bytes": 100, "many": 3, "least_gain_bytes": 50, **rules})  # type: ignore[arg-type]  # whole numbers
    found = worth_packing(dict(zip(names, sizes, strict=True)), needed, given)
    return [name[0] for name in found]


@pytest.mark.parametrize(
    ("sizes", "needed", "wanted"),
    [
        ([], [], []),
        ([1000, 1000, 1000], [1000, 400, 200], [2, 1]),
        # A pack without needed files is garbage, and not repacked.
        ([1000, 1000], [-1, 1000], []),
        # Little to be had.
        ([1000, 120], [1000, 80], []),
        # Few small ones; enough of them.
        ([1000, 60, 50], [1000, 60, 50], []),
        ([1000, 60, 50, 70], [1000, 60, 50, 70], [2, 1, 3]),
    ],
)
def test_what_frees_most_goes_first_and_then_the_smallest(
    sizes: list[int], needed: list[int], wanted: list[int]
) -> None:
    assert chosen(sizes, needed) == wanted


def test_one_go_has_a_limit_and_one_small_pack_is_not_packed_alone() -> None:
    assert chosen([60, 60, 60, 60], [60] * 4, pass_bytes=130) == [0, 1]
    assert chosen([60, 60, 60, 60], [60] * 4, pass_bytes=61) == []
    # A pack that is larger than the limit has its turn.
    assert chosen([1000, 1000], [400, 300], pass_bytes=10) == [1]


def test_small_packs_count_by_group() -> None:
    assert chosen([60, 50, 70, 40], [60, 50, 70, 40], [0, 1, 0, 1]) == []
    assert chosen([60, 50, 70, 40], [60, 50, 70, 40], [1, 0, 1, 1]) == [3, 0, 2]


def all_of(offsets: list[int], group: int = 0) -> Needed:
    return Needed(np.array(offsets), np.full(len(offsets), group, np.int32), 0)


def take(taken: TakenFiles, pack: MadePack, paths: set[str], group: int = 0) -> None:
    data = pack.data

    def read(start: int, end: int) -> bytes:
        return data[start:end]

    index = build_index(pack.members, lambda offset, size: data[offset : offset + size])
    offsets = [member.offset for member in pack.members if member.path in paths]
    taken.take(pack.digest, index, all_of(offsets, group), read)


def written(taken: TakenFiles, limits: PackLimits | None = None) -> list[tuple[NewPack, bytes]]:
    return [(pack, pack.path.read_bytes()) for pack in taken.packs(limits)]


def test_new_packs_hold_what_was_taken_in_order_and_are_whole(tmp_path: Path) -> None:
    first = make_pack({f"{number:02d}.png": png(number) for number in range(20)})
    second = make_pack({"00.png": png(99), "bad.png": b"no picture", "zz.bin": bytes(100_000)})
    with TakenFiles(tmp_path) as taken:
        take(taken, second, {"00.png", "bad.png", "zz.bin"})
        take(taken, first, {"00.png", "07.png"})
        ((pack, data),) = written(taken)

    members = verify_pack([data], pack.summary.digest)
    assert members == list(pack.summary.members)
    names = [member.path for member in members]
    assert names[1:] == ["00.png", "07.png", "bad.png", "zz.bin"]
    # Two files have one path: the second lies in a folder beside, under its name.
    assert names[0].startswith(".packed-anew/")
    assert names[0].endswith("/00.png")
    rebuilt = build_index(members, lambda offset, size: data[offset : offset + size])
    assert rebuilt.equals(pack.index)
    assert pack.index["unreadable"][3].as_py()


def test_the_same_files_give_the_same_packs_of_the_size_that_is_wanted(tmp_path: Path) -> None:
    packs = [make_pack({f"{n}/{m}.png": png(n * 10 + m) for m in range(5)}) for n in range(4)]
    digests = []
    for order in (packs, packs[::-1]):
        with TakenFiles(tmp_path) as taken:
            for pack in order:
                take(taken, pack, {member.path for member in pack.members})
            made = written(taken, PackLimits(target_bytes=8 * BLOCK, own_pack_bytes=1 << 20))
        digests.append([pack.summary.digest for pack, _ in made])
        assert all(len(data) <= 9 * BLOCK for _, data in made)
    assert digests[0] == digests[1]
    assert len(digests[0]) == 3


def test_each_group_has_packs_of_its_own_and_a_content_that_of_the_first(tmp_path: Path) -> None:
    first = make_pack({"a.png": png(1), "b.png": png(2)})
    second = make_pack({"a.png": png(3), "c.png": png(2)})
    with TakenFiles(tmp_path) as taken:
        take(taken, first, {"a.png", "b.png"}, group=1)
        take(taken, second, {"a.png", "c.png"}, group=0)
        made = written(taken)
    assert [pack.index["path"].to_pylist() for pack, _ in made] == [["a.png"], ["a.png", "b.png"]]


def test_a_pack_that_streams_by_has_the_index_of_one_that_lies_there() -> None:
    whole = png(1)
    files = {"a.png": whole, "b.png": whole[:-20], "c.jpg": b"", "d.txt": b"no picture"}
    pack = make_pack(files | {"e.svg": b"<svg/>"})
    data, digest = pack.data, bytes.fromhex(pack.digest)
    lying = build_index(pack.members, lambda offset, size: data[offset : offset + size])
    for step in (100, 1000, len(data)):
        chunks = [data[start : start + step] for start in range(0, len(data), step)]
        assert index_passing(pass_pack(chunks, digest, is_looked_into)).equals(lying)
    assert [bool(reason) for reason in lying["unreadable"].to_pylist()] == [
        *(False, True, True, False, False)
    ]

    spoilt = corrupted(pack, pack.members[3].offset)
    with pytest.raises(PackDigestMismatchError):
        index_passing(pass_pack([spoilt], digest, is_looked_into))


def test_wrong_bytes_and_wrong_places_are_refused(tmp_path: Path) -> None:
    pack = make_pack({"a.png": png(1), "b.png": png(2)})
    spoilt = MadePack(corrupted(pack, pack.members[0].offset), pack.digest, pack.members)
    with TakenFiles(tmp_path) as taken:
        with pytest.raises(PackDigestMismatchError):
            take(taken, spoilt, {"a.png"})
        index = build_index(pack.members, lambda *_: b"")
        with pytest.raises(ManifestCorruptError, match="no file begins"):
            taken.take(pack.digest, index, all_of([512]), lambda *_: b"")
