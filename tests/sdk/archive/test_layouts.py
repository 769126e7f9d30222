"""A version may be read from another root than its commit names, of the same content."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from atom_sdk.archive import (
    Followed,
    check_archive,
    decode_history,
    encode_history,
)
from atom_sdk.archive.errors import ArchiveCorruptError
from atom_sdk.manifests import build_root, read_commit, read_root, write_root
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.objects import pack_key, root_key
from tests.sdk.archive.conftest import Made, move


@dataclass(frozen=True)
class Moved:
    """A version that says its file to be in another pack than its commit does."""

    commit: str
    root: bytes
    layout: bytes


OTHER_PACK = b"\7" * 32


def moved(made: Made, commit: str, pack: bytes = OTHER_PACK) -> Moved:
    root = read_commit(bytes.fromhex(commit), made.folder).root
    (part,) = read_root(root, made.folder).ranges
    table = read_range(part, made.folder)
    packs = pa.array([pack] * len(table), DIGEST)
    table = table.set_column(table.schema.get_field_index("pack"), "pack", packs)
    layout = write_root(build_root([table], made.folder), made.folder)
    return Moved(commit, root, layout)


def test_of_the_root_that_was_committed_no_pack_is_needed(made: Made) -> None:
    first, second = (moved(made, commit) for commit in made.history.commits)
    layouts = {each.commit: each.layout.hex() for each in (first, second)}

    found = Followed(made.folder).follow(replace(made.history, layouts=layouts))

    assert found.packs == {OTHER_PACK}
    assert {root_key(first.root), root_key(first.layout)} <= found.keys
    # The ranges of both roots of both versions.
    assert len([key for key in found.keys if key.startswith("ranges/")]) == 4


def test_a_range_is_looked_into_without_packs_and_with_them(made: Made) -> None:
    # The same range: of one version the packs are needed, of the other only what it says.
    first = moved(made, made.history.commits[0])
    same = made.commit_of(first.root, first.commit)
    again = replace(
        made.history,
        moves=(move(1, "", first.commit), move(2, first.commit, same)),
        kept=frozenset([first.commit, same]),
    )
    for commit in again.commits:
        history = replace(again, layouts={commit: first.layout.hex()})
        assert Followed(made.folder).follow(history).packs == {OTHER_PACK, made.pack}


def test_a_layout_that_is_missing_is_found(made: Made) -> None:
    gone = moved(made, made.history.commits[0])
    made.folder.path(root_key(gone.layout)).unlink()
    history = replace(made.history, layouts={gone.commit: gone.layout.hex()})
    with pytest.raises(ArchiveCorruptError, match=gone.layout.hex()):
        Followed(made.folder).follow(history)


def test_files_that_are_not_where_a_layout_says_are_found(made: Made) -> None:
    # The same pack, but the second file's bytes stand where the layout says the first are.
    commit = made.history.commits[0]
    root = read_root(read_commit(bytes.fromhex(commit), made.folder).root, made.folder)
    table = read_range(root.ranges[0], made.folder)
    place = pa.array([8192] * len(table), pa.int64())
    table = table.set_column(table.schema.get_field_index("offset"), "offset", place)
    layout = write_root(build_root([table], made.folder), made.folder)
    history = replace(made.history, layouts={commit: layout.hex()})
    found = Followed(made.folder).follow(history)
    index = made.folder.write_index({*found.keys, pack_key(made.pack)})
    made.folder.point("digits", made.folder.pointed("digits")[0], index)
    made.point(history)
    assert "not where the versions say" in check_archive(made.folder).problems[0]


def test_a_history_says_layouts_only_if_it_has_some(made: Made) -> None:
    assert b"layouts" not in encode_history(made.history)
    first, second = made.history.commits
    history = replace(made.history, layouts={first: "1" * 64, second: "2" * 64})
    assert decode_history(encode_history(history)) == history
    assert history.with_files_of([second]).layouts == {second: "2" * 64}


def unkept(value: dict[str, Any]) -> None:
    value["kept"] = value["kept"][:1]


@pytest.mark.parametrize(
    "harm",
    [
        unkept,
        lambda value: value.update(layouts=["0" * 64]),
        lambda value: value.update(layouts=None),
        lambda value: value.update(layouts={"0" * 64: "0" * 64}),
        lambda value: value.update(layouts={value["kept"][0]: "../x"}),
        lambda value: value.update(layouts={value["kept"][0]: ""}),
    ],
)
def test_layouts_that_cannot_be_are_refused(
    made: Made, harm: Callable[[dict[str, Any]], None]
) -> None:
    layouts = dict.fromkeys(made.history.commits, "1" * 64)
    value = json.loads(encode_history(replace(made.history, layouts=layouts)))
    harm(value)
    with pytest.raises(ArchiveCorruptError):
        decode_history(json.dumps(value).encode())
