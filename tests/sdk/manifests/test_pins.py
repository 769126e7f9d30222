"""Objects at their source: what identifies them, and what a range makes of them."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.manifests.entries import SOURCE_COLUMNS, Entry, entries_table, table_entries
from atom_sdk.manifests.pins import Pin, pin_of, pinned_entry
from atom_sdk.manifests.ranges.ranges import decode_range, encode_range, range_content
from tests.sdk.manifests.strategies import any_character

NOW = datetime(2026, 3, 1, 12, 30, 0, 123456, UTC)
PIN = Pin("bucket-1", "cats/a.png", 10, None, "abc", NOW)
PACKED = Entry("b.png", 3, b"\1" * 32, "image/png", None, b"\2" * 32, 4096)


@pytest.mark.parametrize(
    "other",
    [
        PIN._replace(source="bucket-2"),
        PIN._replace(key="cats/b.png"),
        PIN._replace(size=11),
        PIN._replace(etag="abd"),
        PIN._replace(etag=None),
        PIN._replace(mtime=NOW + timedelta(microseconds=1)),
        PIN._replace(version_id="abc"),
    ],
)
def test_every_part_of_a_pin_changes_its_digest(other: Pin) -> None:
    assert other.digest != PIN.digest


def test_a_version_id_says_all() -> None:
    pin = PIN._replace(version_id="v1")
    assert pin._replace(etag="other", mtime=None).digest == pin.digest


@given(st.lists(st.text(any_character, max_size=4), min_size=4, max_size=4))
def test_parts_do_not_run_into_each_other(parts: list[str]) -> None:
    source, key, one, two = parts
    pins = {Pin(source, key, 1, None, one + two), Pin(source, key + one, 1, None, two)}
    assert len({pin.digest for pin in pins}) == len(pins)


def test_an_entry_gives_its_pin_back_through_a_stored_range() -> None:
    table = entries_table([pinned_entry("cats/a.png", PIN, "image/png"), PACKED])
    found = table_entries(decode_range(encode_range(table), "k"))
    assert [pin_of(entry) for entry in found] == [None, PIN]


def test_a_range_without_sources_has_no_columns_for_them() -> None:
    names = pq.read_schema(io.BytesIO(encode_range(entries_table([PACKED])))).names
    assert not set(names) & set(SOURCE_COLUMNS)
    assert table_entries(decode_range(encode_range(entries_table([PACKED])), "k")) == [PACKED]


def test_a_changed_object_changes_the_content_and_its_place_does_not() -> None:
    before = range_content(entries_table([pinned_entry("a", PIN, None)]))
    changed = range_content(entries_table([pinned_entry("a", PIN._replace(etag="new"), None)]))
    moved = range_content(entries_table([PACKED._replace(pack=b"\3" * 32, offset=0)]))
    assert changed != before
    assert moved == range_content(entries_table([PACKED]))
