"""Findings in a version, from its entries and the measures of its images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from atom.cleaning.engines import findings
from atom.cleaning.engines.features import (
    MalformedFeatures,
    image_entries,
    is_all_known,
    joined,
    parse_features,
)
from atom.cleaning.engines.findings import Kind, find, of_kind
from atom.cleaning.engines.hamming import near_pairs
from atom.cleaning.engines.thresholds import Thresholds
from atom.datasets.packs.engines.images import media_type_of
from atom_sdk.manifests import Entry, entries_table
from tests.cleaning.pictures import (
    encoded,
    features,
    parquet,
    photo,
    troubled_files,
    workflow_module,
)
from tests.tiers import examples

PACK = b"p" * 32


def entries(files: Mapping[str, bytes], splits: Mapping[str, str] | None = None) -> pa.Table:
    """Return the files as a version lists them."""
    table = entries_table(
        Entry(path, len(data), blake3(data).digest(), media_type_of(path), None, PACK, 0)
        for path, data in files.items()
    )
    paths = table["path"].to_pylist()
    split = pa.array([(splits or {}).get(path) for path in paths], pa.string())
    named = table.append_column("label", pa.nulls(len(table), pa.string()))
    return image_entries([named.append_column("split", split)])


def findings_of(
    files: Mapping[str, bytes], splits: Mapping[str, str] | None = None, **thresholds: Any
) -> dict[str, list[dict[str, Any]]]:
    """Return the findings by kind."""
    table = joined(entries(files, splits), features(files), by_path=True)
    rows = find(table, Thresholds(**thresholds)).table
    return {kind: of_kind(rows, kind).to_pylist() for kind in Kind}


def hashed(files: Mapping[str, bytes], hashes: list[int], side_px: int = 256) -> pa.Table:
    """Return what would be measured of pictures with these perceptual hashes."""
    table, size = features(files), len(hashes)
    columns = {
        "width": [side_px] * size,
        "height": [side_px] * size,
        "phash": hashes,
        "sharpness": [99.0] * size,
        "unreadable": [None] * size,
    }
    for name, values in columns.items():
        field = table.schema.field(name)
        place = table.schema.get_field_index(name)
        table = table.set_column(place, field, pa.array(values, field.type))
    return table


def paths(rows: list[dict[str, Any]], *, stays: bool = False) -> list[str]:
    """Return the paths that should go, or those that stay."""
    return [row["path"] for row in rows if row["stays"] == stays]


def test_one_of_everything_is_found_and_nothing_else() -> None:
    rows = findings_of(troubled_files())
    assert {kind: paths(rows[kind]) for kind in Kind} == {
        Kind.UNREADABLE: ["bad/broken.png", "bad/text.png"],
        Kind.TOO_LARGE: [],
        Kind.EXACT_DUPLICATE: ["same/0.png"],
        Kind.NEAR_DUPLICATE: ["near/1.jpg"],
        Kind.LEAK: [],
        Kind.TINY: ["bad/tiny.png"],
        Kind.DARK: ["bad/dark.png"],
        Kind.BLURRED: ["bad/blurred.png"],
    }
    assert paths(rows[Kind.EXACT_DUPLICATE], stays=True) == ["good/0.png"]
    assert paths(rows[Kind.NEAR_DUPLICATE], stays=True) == ["good/1.png"]
    assert [row["reason"] for row in rows[Kind.UNREADABLE]][1] == ("not an image of a known format")


def test_a_leak_keeps_what_models_are_measured_on() -> None:
    files = {
        "a/train.png": encoded(photo(1)),
        "a/val.png": encoded(photo(1)),
        "b/train.png": encoded(photo(2)),
        "b/test.jpg": encoded(photo(2), "JPEG", quality=80),
        "c/one.png": encoded(photo(3)),
        "c/two.png": encoded(photo(3)),
    }
    splits = {"a/val.png": "val", "b/test.jpg": "test"}
    leaks = findings_of(files, splits)[Kind.LEAK]
    assert {(row["path"], row["group"], row["stays"]) for row in leaks} == {
        ("a/val.png", 0, True),
        ("a/train.png", 0, False),
        ("b/test.jpg", 1, True),
        ("b/train.png", 1, False),
    }


def test_a_leak_is_found_although_its_partner_belongs_to_another_group() -> None:
    chain = [0, 0b11, 0b1111, 0b111111]
    files = {f"{place}.png": bytes([place]) for place in range(4)}
    table = hashed(files, chain)
    splits = {"0.png": "test", "1.png": "val", "2.png": "train", "3.png": "train"}
    rows = find(joined(entries(files, splits), table, by_path=True), Thresholds(2)).table
    leaks = of_kind(rows, Kind.LEAK).to_pylist()
    # 1 is close to 0; 2 only to 1, which gathers around 0; 3 only to 2, of its own split.
    assert paths(leaks) == ["1.png", "2.png"]


def test_near_duplicates_are_near_to_the_one_that_stays_and_not_only_to_each_other() -> None:
    files = {f"{place}.png": bytes([place]) for place in range(3)}
    table = hashed(files, [0, 3, 15])
    rows = find(joined(entries(files), table, by_path=True), Thresholds(2)).table
    near = of_kind(rows, Kind.NEAR_DUPLICATE).to_pylist()
    assert [(row["path"], row["value"]) for row in near] == [("0.png", 0.0), ("1.png", 2.0)]


@pytest.mark.parametrize(("side_px", "near_bits"), [(256, 4), (64, 4), (28, 2), (12, 1)])
def test_small_images_must_be_closer_to_be_near_duplicates(side_px: int, near_bits: int) -> None:
    files = {"0.png": b"0", "1.png": b"1"}
    for bits in range(1, 6):
        table = hashed(files, [0, (1 << bits) - 1], side_px)
        rows = find(joined(entries(files), table, by_path=True), Thresholds()).table
        assert bool(len(of_kind(rows, Kind.NEAR_DUPLICATE))) == (bits <= near_bits)


def test_a_set_of_small_images_is_not_full_of_mistakes() -> None:
    small = {f"{seed}.png": encoded(photo(seed, 12)) for seed in range(3)}
    assert findings_of(small)[Kind.TINY] == []
    assert paths(findings_of({**small, "x.png": encoded(photo(9, 4))})[Kind.TINY]) == ["x.png"]


def test_blank_images_are_no_near_duplicates() -> None:
    blank = {f"{level}.png": encoded(photo(0).point(lambda _, to=level: to)) for level in (99, 200)}
    rows = findings_of(blank)
    assert rows[Kind.NEAR_DUPLICATE] == []
    assert len(rows[Kind.BLURRED]) == 2


@pytest.mark.parametrize("files", [{}, {"notes.txt": b"a", "more.txt": b"a"}])
def test_a_version_without_images_has_only_exact_duplicates(files: dict[str, bytes]) -> None:
    rows = findings_of(files)
    assert [kind for kind in Kind if rows[kind]] == ([Kind.EXACT_DUPLICATE] if files else [])


def test_counts_tell_what_should_go_and_around_how_many_that_stay() -> None:
    files = troubled_files()
    table = find(joined(entries(files), features(files), by_path=True), Thresholds()).table
    told = {one.kind: (one.items, one.groups) for one in findings.counts(table)}
    assert told[Kind.UNREADABLE] == (2, 0)
    assert told[Kind.NEAR_DUPLICATE] == (1, 1)
    assert told[Kind.LEAK] == (0, 0)
    assert findings.read_findings(findings.write_findings(table)).equals(table)


def test_features_serve_another_version_of_the_same_images() -> None:
    files = troubled_files()
    known = features(files)
    moved = {f"moved/{path}": data for path, data in files.items() if "good" in path}
    assert is_all_known(entries(moved), known)
    assert not is_all_known(entries({**moved, "new.png": encoded(photo(77))}), known)
    table = joined(entries(moved), known, by_path=False)
    assert table["width"].to_pylist() == [96] * 6


@pytest.mark.parametrize("data", [b"", b"PAR1", parquet(pa.table({"path": ["a"]}))])
def test_a_file_that_is_not_of_the_format_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedFeatures):
        parse_features(data)


def test_what_the_workflow_writes_can_be_read() -> None:
    table = features({"a.png": encoded(photo(1))})
    assert parse_features(parquet(table)).to_pylist() == table.to_pylist()


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.sets(st.integers(0, 63), max_size=10)), max_size=12),
    st.integers(0, 10),
)
def test_no_near_pair_is_missed(
    seeds: list[int], changes: list[tuple[int, set[int]]], distance: int
) -> None:
    flipped = [
        seeds[at % len(seeds)] ^ sum(1 << bit for bit in bits) for at, bits in changes if seeds
    ]
    hashes = np.unique(np.array([*seeds, *flipped], np.uint64))
    apart = np.bitwise_count(hashes[:, None] ^ hashes[None, :])
    first, second = np.nonzero(np.triu(apart <= distance, 1))
    pairs = near_pairs(hashes, distance)
    told = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    assert set(told) == set(zip(first.tolist(), second.tolist(), strict=True))


def test_too_many_pairs_are_cut_and_said_to_be() -> None:
    hashes = np.arange(64, dtype=np.uint64)
    pairs = near_pairs(hashes, 6, max_pairs=100)
    assert pairs.is_partial
    assert len(pairs.first) == 100


@pytest.mark.parametrize("side", [10_001, 30_000])
def test_a_picture_that_is_too_large_is_said_to_be_that(side: int) -> None:
    made = encoded(Image.new("1", (side, side)))

    measured = workflow_module("pictures").measure(made)

    assert measured.unreadable == "more than 100,000,000 pixels"


def test_deep_and_turned_pictures_are_measured_as_they_are_seen() -> None:
    measure = workflow_module("pictures").measure
    grey = np.asarray(photo(7)).astype(np.uint16)
    deep = measure(encoded(Image.fromarray(grey * 257)))
    plain = measure(encoded(photo(7)))
    assert (deep.phash, round(deep.luminance, 4)) == (plain.phash, round(plain.luminance, 4))
    unknown = measure(encoded(Image.fromarray(grey.astype(np.float32)), "TIFF"))
    assert "black and white" in unknown.unreadable

    exif = Image.Exif()
    exif[0x0112] = 6
    for kind in ("JPEG", "PNG", "TIFF"):
        wide = encoded(photo(7, 512).crop((0, 0, 512, 256)), kind, exif=exif)
        turned = measure(encoded(photo(7, 512).crop((0, 0, 512, 256)).rotate(-90, expand=True)))
        measured = measure(wide)
        assert (measured.width, measured.height) == (256, 512)
        assert (measured.phash ^ turned.phash).bit_count() <= 4


def test_a_picture_that_is_too_large_is_not_counted_as_unreadable() -> None:
    picture = encoded(Image.new("1", (10_001, 10_001)))

    rows = findings_of({"large.png": picture, "broken.png": b"no image"})

    assert paths(rows[Kind.TOO_LARGE]) == ["large.png"]
    assert paths(rows[Kind.UNREADABLE]) == ["broken.png"]
