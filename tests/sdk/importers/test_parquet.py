"""Parquet files of Hugging Face: which columns are files, labels, objects and attributes."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import read_whole
from atom_sdk.importers.text_options import TextOptions
from tests.sdk.importers.conftest import PNG, Look, collected, objects_in
from tests.sdk.importers.test_archives import tar_of

SHARD = "train-00000-of-00001.parquet"
FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
CLASSES = {"_type": "ClassLabel", "names": ["cat", "dog"]}
WAV = b"RIFF\0\0\0\0WAVEfmt "


def picture(number: int = 0, path: str | None = None) -> dict[str, Any]:
    return {"bytes": PNG + bytes([number]), "path": path}


def parquet(folder: Path, columns: dict[str, Any], **features: Any) -> Path:
    """Write one shard; a column is a list of values, or an array."""
    table = pa.table(columns)
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    folder.mkdir(exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), folder / SHARD)
    return folder / SHARD


def files(*pictures: dict[str, Any] | None) -> pa.Array:
    return pa.array(list(pictures), FILE)


FIRST, SECOND = "train/00000-00000000.png", "train/00000-00000001.png"


def test_lists_structs_and_odd_types_are_attributes(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    columns = {
        "image": [PNG],
        "tags": [["a", "b"]],
        "lens": [{"mm": 50, "marks": [{"x": 1.5}]}],
        "price": pa.array([Decimal("1.10")]),
        "exact": pa.array([Decimal("12345678901234567.89")]),
        "day": [date(2026, 1, 2)],
        "when": [when],
        "lasts": [timedelta(seconds=1.5)],
        "camera": pa.array(["north"]).dictionary_encode(),
        "score": [float("nan")],
        "pairs": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "none": pa.array([None], pa.string()),
        "hash": [b"\0\1"],
    }
    found, report = collected(parquet(tmp_path, columns))
    assert found.attributes[FIRST] == {
        "tags": ["a", "b"],
        "lens": {"mm": 50, "marks": [{"x": 1.5}]},
        "price": 1.1,
        "exact": "12345678901234567.89",
        "day": "2026-01-02",
        "when": "2026-01-02T03:04:05+00:00",
        "lasts": 1.5,
        "camera": "north",
        "pairs": [["k", 1]],
    }
    assert [(p.subject, p.reason) for p in report.problems] == [
        (f"{SHARD}: column hash", "its values are bytes, which no attribute holds")
    ]


def test_an_attribute_that_is_too_large_goes_and_the_others_stay(tmp_path: Path) -> None:
    columns = {"image": [PNG], "embedding": [[0.123456789] * 3000], "tags": [["a"] * 100]}
    found, report = collected(parquet(tmp_path, columns))
    assert found.attributes[FIRST] == {"tags": ["a"] * 100}
    assert [(p.subject, p.reason) for p in report.problems] == [
        (FIRST, "its attribute 'embedding' does not fit into 16 KiB; it goes without")
    ]


BOXES = [[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 5.0, 5.0]]
OBJECTS: dict[str, tuple[Any, Any]] = {
    "a struct of lists": (
        {"bbox": BOXES, "categories": [0, 1], "area": [1, 2]},
        {"_type": "Sequence", "feature": {"categories": CLASSES, "bbox": {"_type": "Value"}}},
    ),
    "a list of structs": (
        [{"bbox": box, "category": place, "area": 1} for place, box in enumerate(BOXES)],
        [{"category": CLASSES, "bbox": {"_type": "Sequence", "feature": {"_type": "Value"}}}],
    ),
    "a struct with lists of classes": (
        {"bbox": BOXES, "category": [0, 1], "area": [1, 2]},
        {"category": {"_type": "List", "feature": CLASSES}},
    ),
    "text for classes": ({"bbox": BOXES, "label": ["cat", "dog"], "area": [1, 1]}, None),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_read_from_lists_and_structs(name: str, tmp_path: Path) -> None:
    value, feature = OBJECTS[name]
    columns = {"image": files(picture()), "objects": [value], "width": [64]}
    found, report = collected(parquet(tmp_path, columns, objects=feature))
    assert objects_in(found, FIRST) == [
        {"label": "cat", "kind": "box", "box": [1, 2, 3, 4]},
        {"label": "dog", "kind": "box", "box": [0, 0, 5, 5]},
    ]
    assert found.attributes[FIRST] == {"width": 64}
    assert report.objects == 2
    assert report.notes == [f"{SHARD}: fields of objects that are left out: area"]


def test_boxes_that_may_be_corners_are_noted_and_read_as_told(tmp_path: Path) -> None:
    objects = {"bbox": [[30.0, 30.0, 60.0, 40.0], [1.0, 1.0, 1.0, 9.0]], "category": ["a", "b"]}
    columns = {"image": files(picture()), "objects": [objects], "width": [64], "height": [48]}
    source = parquet(tmp_path, columns)
    _, report = collected(source)
    assert "1 box ends outside of its picture" in report.notes[0]
    assert "--boxes corners" in report.notes[0]
    found, report = collected(source, text=TextOptions(boxes="corners"))
    assert objects_in(found, FIRST) == [{"label": "a", "kind": "box", "box": [30, 30, 30, 10]}]
    assert (report.lost_objects, report.object_tally.lost) == (1, {"b": 1})


def test_null_pictures_lists_of_them_and_further_columns_are_files(tmp_path: Path) -> None:
    columns = {
        "image": files(picture(1), None, {"bytes": None, "path": "x.png"}),
        "mask": files(picture(4), picture(5), picture(6)),
        "views": pa.array([[picture(7), picture(8)], [], None], pa.list_(FILE)),
        "label": ["a", "b", "c"],
    }
    found, report = collected(parquet(tmp_path, columns))
    assert list(found.blobs) == [
        FIRST,
        *(f"train/00000-0000000{row}-mask.png" for row in range(3)),
        "train/00000-00000000-000-views.png",
        "train/00000-00000000-001-views.png",
    ]
    assert read_whole(found.blobs["train/00000-00000000-001-views.png"]) == PNG + bytes([8])
    assert found.labels == {FIRST: "a"}
    assert set(found.splits.values()) == {"train"}
    assert [p.subject for p in report.problems] == [f"{SHARD}, row 1", f"{SHARD}, row 2"]
    assert report.label_tally.lost == {"b": 1, "c": 1}


def test_a_list_of_pictures_gives_each_the_values_of_the_row(tmp_path: Path) -> None:
    columns = {"images": pa.array([[picture(1), picture(2)]], pa.list_(FILE)), "label": [1]}
    found, _ = collected(parquet(tmp_path, columns, label=CLASSES))
    assert found.labels == {f"train/00000-00000000-00{place}.png": "dog" for place in range(2)}


def test_lists_of_classes_are_names_and_no_label(tmp_path: Path) -> None:
    columns = {"image": files(picture()), "labels": [[0, 1]], "kind": [1]}
    several = {"_type": "Sequence", "feature": CLASSES}
    found, report = collected(parquet(tmp_path, columns, labels=several, kind=CLASSES))
    assert (found.labels, found.attributes) == ({FIRST: "dog"}, {FIRST: {"labels": ["cat", "dog"]}})
    assert not report.skipped


def test_sounds_are_named_by_their_bytes_or_their_names(tmp_path: Path) -> None:
    sounds = files({"bytes": WAV, "path": None}, {"bytes": b"?", "path": "talk.OPUS"})
    found, _ = collected(parquet(tmp_path, {"audio": sounds, "text": ["hello", "bye"]}))
    assert found.attributes == {
        "train/00000-00000000.wav": {"text": "hello"},
        "train/00000-00000001.opus": {"text": "bye"},
    }


def test_parquet_without_pictures_is_a_file_with_a_word_why(tmp_path: Path, look: Look) -> None:
    source = parquet(tmp_path, {"a": [1], "hash": [b"\0\1"]})
    archive = tmp_path / "data.tar"
    archive.write_bytes(tar_of({"t.parquet": source.read_bytes()}))
    for path, importer in ((source, "folder"), (archive, "tar")):
        report = look(path)
        assert (report.importer, report.files) == (importer, 1)
        assert "no column with the bytes of pictures" in report.near_misses[0].reason
    with pytest.raises(FormatUnknownError) as refused:
        look(source, "parquet")
    assert "auto" not in refused.value.hint
