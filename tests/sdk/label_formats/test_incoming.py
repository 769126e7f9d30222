"""Labels on their way into a version: matches, misses, faults, and rows in path order."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from atom_sdk.annotations.layer import PictureRow, rows_table
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.shapes import Box
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.label_formats.incoming import IncomingLabels, NoPictureMatchedError
from atom_sdk.label_formats.interface import ReadChoices
from atom_sdk.label_formats.known_pictures import MatchedPictures
from atom_sdk.label_formats.label_sources import open_labels
from atom_sdk.label_formats.sorted_rows import mapped_rows, write_sorted_rows

PATHS = ["train/a.png", "train/b.png", "val/a.png"]


def incoming(tmp_path: Path, *names: str, bbox: object = (1, 2, 3, 4)) -> IncomingLabels:
    images = [
        {"id": number, "file_name": name, "width": 64, "height": 48}
        for number, name in enumerate(names)
    ]
    rows = [
        {"id": number + 1, "image_id": number, "category_id": 1, "bbox": bbox}
        for number in range(len(names))
    ]
    value = {
        "images": images,
        "annotations": rows,
        "categories": [{"id": 1, "name": "car"}],
    }
    source = tmp_path / "labels.json"
    source.write_text(json.dumps(value))
    # A picture beside the file is no picture of the version.
    (tmp_path / "gone.png").write_bytes(b"")
    tree = open_labels(source, ArchiveLimits(), tmp_path)
    pictures = MatchedPictures(PATHS, lambda _: None)
    return IncomingLabels(tree, "auto", pictures, ReadChoices())


def test_names_mean_exact_paths_ends_and_names(tmp_path: Path) -> None:
    labels = incoming(tmp_path, "train/a.png", "x/val/a.png", "b.png", "a.png", "gone.png")
    assert [each.path for each in labels.pictures()] == ["train/a.png", "val/a.png", "train/b.png"]
    matches = labels.summary().matches
    assert matches["exact"] == 1
    assert matches["by_end"] + matches["by_name"] == 2
    reasons = {row["name"]: row["reason"] for row in matches["unmatched"]}
    assert reasons == {"a.png": "ambiguous", "gone.png": "missing"}
    assert labels.report.total == 3


def test_labels_of_other_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NoPictureMatchedError):
        list(incoming(tmp_path, "gone.png").pictures())


def test_an_object_outside_of_its_picture_is_counted(tmp_path: Path) -> None:
    labels = incoming(tmp_path, "b.png", bbox=(5000, 1, 2, 3))
    [picture] = labels.pictures()
    assert picture.document.objects == ()
    assert sum(labels.report.counts.values()) == 1


def test_rows_come_in_path_order_whatever_order_they_had(tmp_path: Path) -> None:
    names = [f"{number * 7919 % 5000:05d}.png" for number in range(5000)] + ["é.png", "中.png"]

    def rows() -> list[PictureRow]:
        return [
            PictureRow(
                name,
                b"\1" * 32,
                NamedDocument(
                    64, 48, objects=(NamedObject(f"{n:016x}", "car", Box(n % 60, 1, 2, 3)),)
                ),
                source="import",
            )
            for n, name in enumerate(names)
        ]

    path = tmp_path / "rows.arrow"
    assert write_sorted_rows(rows(), path) == len(names)
    table = mapped_rows(path)
    assert table.equals(rows_table(rows()))
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.arrow"]
    assert pa.total_allocated_bytes() < 256 << 20


ODD = ["hostile/a\\b.png", "x\\y/z.png", " q.png", "train/a.png", "val/a.png"]


@pytest.mark.parametrize("path", ODD)
def test_a_path_with_a_backslash_or_spaces_is_found_by_its_exact_name(path: str) -> None:
    pictures = MatchedPictures(ODD, lambda _: None)
    assert pictures.resolve(path) == path
    assert pictures.resolve_stem(f"images/{path[:-4]}") == path
    assert pictures.unmatched == {}


def test_a_backslash_of_windows_still_parts_folders() -> None:
    pictures = MatchedPictures(ODD, lambda _: None)
    assert pictures.resolve("C:\\data\\train\\a.png") == "train/a.png"
    assert pictures.resolve("data\\val/a.png") == "val/a.png"
