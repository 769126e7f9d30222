"""Hypothesis strategies for small datasets, and a rule that cuts them into many ranges."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from blake3 import blake3
from hypothesis import strategies as st

from atom_sdk.manifests import BoundaryRule, Entry, entries_table

# A range every three paths, and never more than five: small data shows every case.
RULE = BoundaryRule(modulus=3, cap=5)
PACK = blake3(b"pack").digest()

# The characters that UTF-8 can encode. The default asks for them by the codec's name, which is
# tried on each of a million characters in a new checkout.
any_character = st.characters(exclude_categories=["Cs"])
# Few letters, so that names meet; what the format refuses as a path is in no dataset.
_segments = st.text("abcé0.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
paths = st.lists(_segments, min_size=1, max_size=3).map("/".join)
path_sets = st.dictionaries(paths, st.integers(0, 5), max_size=40)
filled_sets = path_sets.filter(bool)


def entry(path: str, version: int = 0) -> Entry:
    """An entry whose content is named by a number."""
    content = f"content {version}".encode()
    return Entry(path, len(content), blake3(content).digest(), "text/plain", None, PACK, 4096)


def table_of(files: Mapping[str, int]) -> pa.Table:
    """Entries of paths whose contents are named by numbers."""
    return entries_table(entry(path, version) for path, version in files.items())
