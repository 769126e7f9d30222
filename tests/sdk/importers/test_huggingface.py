"""Folders of Hugging Face: metadata files, class folders, zipped shards."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.importers.errors import AnnotationsUnreadableError, FormatUnknownError
from tests.sdk.importers.conftest import PNG, Look, collected, objects_in, write
from tests.sdk.importers.test_archives import zip_of


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def parquet(*rows: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


ROWS = (
    {"file_name": "a.png", "text": "one", "n": 1},
    {"file_name": "sub/b.png", "text": "two; 2", "n": None},
)
METADATA = {
    "metadata.jsonl": lines(*ROWS),
    "metadata.csv": b'file_name,text,n\na.png,one,1\nsub/b.png,"two; 2",\n',
    "metadata.parquet": parquet(*ROWS),
}


@pytest.mark.parametrize("folder", ["", "train/"])
@pytest.mark.parametrize("name", METADATA)
def test_metadata_gives_attributes(name: str, folder: str, tmp_path: Path) -> None:
    files = {f"{folder}{name}": METADATA[name], f"{folder}a.png": PNG, f"{folder}sub/b.png": PNG}
    found, report = collected(write(tmp_path, files))
    assert report.importer == "huggingface"
    assert found.attributes == {
        f"{folder}a.png": {"text": "one", "n": 1},
        f"{folder}sub/b.png": {"text": "two; 2"},
    }
    assert set(found.splits.values()) == ({"train"} if folder else set())
    assert list(report.annotations) == [f"{folder}{name}"]
    assert [*report.problems, *report.near_misses, *report.notes] == []


def test_objects_and_labels_of_metadata(tmp_path: Path) -> None:
    boxes = {"bbox": [[1, 2, 3, 4], [5, 5, 0, 1]], "categories": ["cat", "dog"]}
    rows = (
        {"file_name": "1.png", "label": 3, "objects": boxes, "width": 64, "tags": ["x"]},
        {"file_name": "gone.png", "label": "x", "objects": boxes},
        {"text": "no file"},
    )
    files = {"metadata.jsonl": b"\xef\xbb\xbf" + lines(*rows), "1.png": PNG, "2.png": PNG}
    found, report = collected(write(tmp_path, files | {"README.md": b""}))
    assert objects_in(found, "1.png") == [{"label": "cat", "kind": "box", "box": [1, 2, 3, 4]}]
    assert found.attributes["1.png"] == {"width": 64, "tags": ["x"]}
    assert found.labels == {"1.png": "3"}
    assert set(found.blobs) == {"1.png", "2.png"}
    assert report.notes == ["1 file in no metadata, imported without values"]
    assert report.object_tally.lost == {"cat": 1, "dog": 2}
    assert [problem.subject for problem in report.problems] == [
        "1.png, object 2",
        "metadata.jsonl, line 2: gone.png",
        "metadata.jsonl, line 3",
        "README.md",
    ]


def test_class_folders_give_labels_where_metadata_has_none(tmp_path: Path) -> None:
    files = {"train/cat/1.png": PNG, "train/dog/2.png": PNG, "val/cat/3.png": PNG}
    rows = lines({"file_name": "train/cat/1.png", "text": "one"})
    found, report = collected(write(tmp_path, files | {"metadata.jsonl": rows}))
    assert found.labels == {path: path.split("/")[1] for path in files}
    assert found.splits["val/cat/3.png"] == "val"
    assert report.notes == ["2 files in no metadata, imported without values"]


def test_several_files_of_a_row_and_files_that_are_no_pictures(tmp_path: Path) -> None:
    rows = lines(
        {"image_file_name": "a.png", "mask_file_name": "m/a.png", "text": "one"},
        {"file_names": ["b.wav", "c.txt"], "text": "two"},
        {"image": "d.png", "text": "three"},
    )
    files = dict.fromkeys(["a.png", "m/a.png", "b.wav", "c.txt", "d.png"], PNG)
    found, _ = collected(write(tmp_path, files | {"metadata.jsonl": rows}))
    assert found.attributes == {
        "a.png": {"text": "one", "mask_file_name": "m/a.png"},
        "m/a.png": {"text": "one", "image_file_name": "a.png"},
        "b.wav": {"text": "two"},
        "c.txt": {"text": "two"},
        "d.png": {"text": "three"},
    }


def test_the_nearest_metadata_counts_and_a_second_one_is_named(tmp_path: Path) -> None:
    files = {
        "metadata.jsonl": lines({"file_name": "train/a.png", "text": "far"}),
        "train/metadata.jsonl": lines({"file_name": "a.png", "text": "near"}),
        "train/metadata.csv": b"file_name,text\na.png,other\n",
        "train/a.png": PNG,
    }
    found, report = collected(write(tmp_path, files))
    assert found.attributes == {"train/a.png": {"text": "near"}}
    assert [(miss.subject, miss.reason) for miss in report.near_misses] == [
        (
            "train/metadata.csv",
            "it is not read, since train/metadata.jsonl of the same folder counts",
        )
    ]
    assert [problem.subject for problem in report.problems] == [
        "metadata.jsonl, line 1: train/a.png"
    ]


def test_zipped_shards_are_folders(tmp_path: Path) -> None:
    rows = lines({"file_name": "a.png", "text": "one"})
    shard = zip_of({"a.png": PNG, "metadata.jsonl": rows})
    files = {"data/train-00000-of-00002.zip": shard, "data/train-00001-of-00002.zip": shard}
    found, report = collected(write(tmp_path / "inside", files | {"README.md": b""}))
    assert found.attributes == {f"data/train/0000{n}/a.png": {"text": "one"} for n in (0, 1)}
    assert set(found.splits.values()) == {"train"}
    assert report.notes == ["2 zip archives of the folder read as folders"]

    beside = {"train.zip": zip_of({"a.png": PNG}), "train/metadata.jsonl": rows}
    assert collected(write(tmp_path / "beside", beside))[0].attributes == {
        "train/a.png": {"text": "one"}
    }
    plain = write(tmp_path / "plain", {"some.zip": zip_of({"a.png": PNG})})
    assert set(collected(plain)[0].blobs) == {"some.zip"}


def test_json_lines_of_another_name_are_near(tmp_path: Path, look: Look) -> None:
    rows = lines({"file_name": "a.png", "text": "one"})
    source = write(tmp_path, {"train.jsonl": rows, "log.jsonl": b'{"a": 1}', "a.png": PNG})
    (miss,) = look(source).near_misses
    assert (miss.subject, "metadata.jsonl is read" in miss.reason) == ("train.jsonl", True)
    alone, report = collected(source / "train.jsonl")
    assert (report.importer, alone.attributes) == ("huggingface", {"a.png": {"text": "one"}})


@pytest.mark.parametrize("rows", [b'{"file_name": "a.png"}\n{', b'{"file_name": "a.png"}\n[]'])
def test_metadata_that_is_torn_is_an_error(rows: bytes, tmp_path: Path, look: Look) -> None:
    with pytest.raises(AnnotationsUnreadableError, match=r"metadata\.jsonl, line 2"):
        look(write(tmp_path, {"metadata.jsonl": rows, "a.png": PNG}))
    with pytest.raises(FormatUnknownError, match="file_name"):
        look(write(tmp_path / "none", {"a.png": PNG}), "huggingface")
