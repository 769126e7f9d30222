"""Hypothesis strategies: any legal path, any small set of files."""

from __future__ import annotations

import io
from collections.abc import Mapping

from hypothesis import strategies as st

from atom_sdk.errors import PathError
from atom_sdk.packs import PackSummary, PackWriter, encode_path


def is_legal(path: str) -> bool:
    try:
        encode_path(path)
    except PathError:
        return False
    return True


_odd = st.sampled_from(
    ["-", " ", "\n", "😀", "é", "e\u0301", "\\", "*", "'", '"', "𐍈", "..a", "中文"]
)
_character = st.characters(exclude_categories=["Cs"], exclude_characters="\0/")
_segment = st.lists(st.one_of(_odd, _character), min_size=1, max_size=40).map("".join)
paths = st.lists(_segment, min_size=1, max_size=4).map("/".join).filter(is_legal)
file_sets = st.dictionaries(paths, st.binary(max_size=9000), min_size=1, max_size=8)


def packed(files: Mapping[str, bytes]) -> tuple[bytes, PackSummary]:
    """The pack of some files and its summary."""
    sink = io.BytesIO()
    with PackWriter(sink) as writer:
        for path in sorted(files):
            writer.add_bytes(path, files[path])
        summary = writer.close()
    return sink.getvalue(), summary
