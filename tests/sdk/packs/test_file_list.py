"""Many files in little memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.packs import SourceFile, walk_folder
from atom_sdk.packs.file_list import FileList
from tests.tiers import examples

# The first chunk has small files only, the last one larger ones than 4 GiB.
FILES = [SourceFile(f"é/{n:05d}", n * n * n, -n) for n in range(9000)]
_COUNT = 100_000


def test_a_list_gives_back_what_it_was_given() -> None:
    files = FileList(iter(FILES))
    assert len(files) == len(FILES)
    assert list(files) == FILES
    assert [files[n] for n in (0, 4095, 4096, 8999, -1, -9000)] == [
        FILES[n] for n in (0, 4095, 4096, 8999, -1, -9000)
    ]
    assert files[4090:4100] == FILES[4090:4100]
    for number in (9000, -9001):
        with pytest.raises(IndexError):
            files[number]
    assert list(FileList()) == []


def test_files_are_held_in_few_bytes() -> None:
    tracemalloc.start()
    try:
        files = FileList(SourceFile(f"{n:06d}.jpg", 10**6, n) for n in range(_COUNT))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # Eight bytes for the time, four for the size; the rest is the path.
    assert len(files) == _COUNT
    assert held < 14 * _COUNT


@settings(max_examples=examples(15), deadline=None)
@given(
    st.sets(
        st.lists(st.text("aB-./é", min_size=1, max_size=3), min_size=1, max_size=3).map("/".join)
    )
)
def test_a_walk_comes_in_the_byte_order_of_whole_paths(
    tmp_path_factory: pytest.TempPathFactory, paths: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("walked")
    for path in paths:
        if not {"", ".", ".."} & set(path.split("/")):
            target = folder / path
            if not any(above.is_file() for above in target.parents) and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(b"")
    written = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    assert [file.path for file in walk_folder(folder).files] == sorted(written, key=str.encode)
