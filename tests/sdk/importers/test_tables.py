"""Tables as other tools write them: delimiters, encodings, boxes, names of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atom_sdk.importers.collection import Collected
from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    FormatUnknownError,
    ImportFailedError,
    TextEncodingError,
)
from atom_sdk.importers.report import Report
from atom_sdk.importers.text_options import TextOptions
from tests.sdk.importers.conftest import PNG, Look, collected, objects_in, write

PATHS = "path;label\na.png;cat\nb.png;dog\n"


def pictures(*paths: str) -> dict[str, bytes]:
    return {path: PNG + path.encode() for path in paths}


def read(
    folder: Path, tables: dict[str, Any], *paths: str, **options: Any
) -> tuple[Collected, Report]:
    """Import a folder with tables and pictures."""
    texts = {
        name: text if isinstance(text, bytes) else text.encode() for name, text in tables.items()
    }
    return collected(write(folder / "data", {**texts, **pictures(*paths)}), **options)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_delimiters_and_encodings_are_read(delimiter: str, encoding: str, tmp_path: Path) -> None:
    text = "path;label;note\nä.png;Käse;1\nb.png;dog;2\n".replace(";", delimiter).encode(encoding)
    if encoding == "utf-16-le":
        text = b"\xff\xfe" + text
    options = TextOptions(encoding="cp1252") if encoding == "cp1252" else TextOptions()
    found, report = read(tmp_path, {"l.csv": text}, "ä.png", "b.png", text=options)
    assert (report.importer, found.labels) == ("csv", {"ä.png": "Käse", "b.png": "dog"})
    assert found.attributes["b.png"] == {"note": 2}


def test_a_text_of_another_encoding_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(TextEncodingError, match=r"l\.csv is not UTF-8") as refused:
        read(tmp_path, {"l.csv": "path,label\na.png,Käse\n".encode("cp1252")}, "a.png")
    assert "--encoding cp1252" in refused.value.hint
    with pytest.raises(TextEncodingError, match="ascii"):
        read(tmp_path, {"l.csv": "path,label\na.png,Käse\n"}, text=TextOptions(encoding="ascii"))


def test_a_delimiter_can_be_given_and_excel_can_name_it(tmp_path: Path) -> None:
    odd = {"l.csv": "path~label\na.png~cat\n"}
    assert read(tmp_path / "1", odd, "a.png", text=TextOptions(delimiter="~"))[0].labels
    tab = {"l.csv": "path\tlabel\na.png\tcat\n"}
    assert read(tmp_path / "2", tab, "a.png", text=TextOptions(delimiter="\t"))[0].labels
    found, report = read(tmp_path / "3", {"l.csv": "sep=;\npath;label\nx.png;cat\n"}, "a.png")
    assert [miss.subject for miss in report.near_misses] == ["l.csv"]
    found, report = read(tmp_path / "4", {"l.csv": "sep=;\npath;label\na.png;c\ngone;d\n"}, "a.png")
    assert found.labels == {"a.png": "c"}
    assert report.problems[0].subject == "l.csv, line 4"


def boxes(found: Collected, path: str) -> list[tuple[str, list[float]]]:
    return [(one["label"], one["box"]) for one in objects_in(found, path)]


ROBOFLOW = """filename,width,height,class,xmin,ymin,xmax,ymax
a.png,64,48,cat,1,2,11,22
a.png,64,48,dog,5,5,9,9
b.png,64,48,cat,5,5,5,9
b.png,64,48,,5,5,9,9
"""


def test_a_line_for_each_box_gives_the_objects_of_pictures(tmp_path: Path) -> None:
    source = {"train/_annotations.csv": ROBOFLOW}
    found, report = read(tmp_path, source, "train/a.png", "train/b.png")
    assert report.importer == "csv"
    assert boxes(found, "train/a.png") == [("cat", [1, 2, 10, 20]), ("dog", [5, 5, 4, 4])]
    assert found.attributes["train/a.png"] == {"width": 64, "height": 48}
    assert found.splits == {"train/a.png": "train", "train/b.png": "train"}
    assert (report.lost_objects, report.emptied.names) == (2, ["train/b.png"])
    assert {problem.reason for problem in report.problems} == {
        "a box has no area",
        "it has no class",
    }


BOX_TABLES = {
    "x,y,w,h": "image,x,y,w,h,label\na.png,1,2,3,4,cat\nb.png,,,,,\n",
    "x,y,width,height": "image,x,y,width,height,label\na.png,1,2,3,4,cat\nb.png,,,,,\n",
    "center": "image,x_center,y_center,width,height,label\na.png,2.5,4,3,4,cat\nb.png,,,,,\n",
    "a list": 'image,bbox,label\na.png,"[1, 2, 3.0, 4]",cat\nb.png,,\n',
    "no header": "a.png,1,2,4,6,cat\nb.png,,,,,\n",
    "tabs": "x1\ty1\tx2\ty2\timage\tlabel\n1\t2\t4\t6\ta.png\tcat\n\t\t\t\tb.png\t\n",
}


@pytest.mark.parametrize("name", BOX_TABLES)
def test_boxes_are_known_by_their_columns(name: str, tmp_path: Path) -> None:
    found, report = read(tmp_path, {"list.csv": BOX_TABLES[name]}, "a.png", "b.png")
    assert boxes(found, "a.png") == [("cat", [1, 2, 3, 4])]
    assert boxes(found, "b.png") == []
    assert not report.problems


def test_boxes_of_openimages_are_relative_and_their_classes_named(tmp_path: Path) -> None:
    header = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsGroupOf\n"
    rows = "id1,xclick,/m/01yrx,1,0.25,0.5,0.5,1,1,0\nid1,xclick,/m/0bt9lr,0.5,0,1,0,1,0,-1\n"
    tables = {
        "validation-annotations-bbox.csv": header + rows,
        "class-descriptions-boxable.csv": "/m/01yrx,Cat\n/m/0bt9lr,Dog\n/m/1,Other\n",
    }
    found, report = read(tmp_path, tables, "validation/id1.jpg")
    assert objects_in(found, "validation/id1.jpg") == [
        {
            "label": "Cat",
            "kind": "box",
            "box": [16, 24, 16, 24],
            "attributes": {"occluded": True},
        },
        {"label": "Dog", "kind": "box", "box": [0, 0, 64, 48]},
    ]
    assert found.attributes["validation/id1.jpg"] == {"source": "xclick"}
    assert found.splits == {"validation/id1.jpg": "val"}
    assert any(note.endswith("left out: confidence") for note in report.notes)
    assert not report.near_misses


AMBIGUOUS = {
    "a box needs four columns": "image,xmin,ymin,label\na.png,1,2,cat\n",
    "its boxes have no class": "image,xmin,ymin,xmax,ymax\na.png,1,2,3,4\n",
    "remove the columns that do not count": "image,x,y,w,h,x1,y1,x2,y2,label\na.png,,,,,,,,,c\n",
    "names no columns": "a.png,cat\n",
    "names no column of files": "size,label\n3,cat\n",
    "give --images": "image,label\nz.png,cat\n",
    "--encoding utf-16-le": "path,label\na.png,cat\n".encode("utf-16-le"),
    "it is empty": b"",
}


@pytest.mark.parametrize("reason", AMBIGUOUS)
def test_a_table_that_is_not_understood_is_a_near_miss_with_its_reason(
    reason: str, tmp_path: Path
) -> None:
    found, report = read(tmp_path, {"l.csv": AMBIGUOUS[reason]}, "a.png")
    assert (report.importer, set(found.blobs)) == ("folder", {"a.png", "l.csv"})
    assert [(miss.subject, reason in miss.reason) for miss in report.near_misses] == [
        ("l.csv", True)
    ], report.near_misses
    with pytest.raises(FormatUnknownError, match=reason):
        read(tmp_path, {"l.csv": AMBIGUOUS[reason]}, "a.png", file_format="csv")


def test_width_and_height_that_may_be_of_the_picture_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"a.png,{n},{n},64,48,cat\n" for n in range(3))
    with pytest.raises(AnnotationsUnreadableError, match="may be the picture's"):
        read(tmp_path, {"l.csv": f"image,x,y,width,height,label\n{rows}"}, "a.png")


def test_kaggle_tables_name_pictures_without_their_ending(tmp_path: Path) -> None:
    tables = {
        "train.csv": "id_code,diagnosis\nid1,2\nid2,0\n",
        "test.csv": "id_code\nid3\n",
        "sample_submission.csv": "id_code,diagnosis\nid3,0\n",
    }
    paths = ("train_images/id1.png", "train_images/id2.png", "test_images/id3.png")
    found, report = read(tmp_path, tables, *paths, "masks/id1.png")
    assert found.labels == {paths[0]: "2", paths[1]: "0"}
    assert found.splits == {paths[0]: "train", paths[1]: "train", paths[2]: "test"}
    assert [(p.subject, p.reason) for p in report.problems] == [
        ("masks/id1.png", "no row of a table names it")
    ]
    (miss,) = report.near_misses
    assert miss.subject == "sample_submission.csv"
    assert "placeholders" in miss.reason


@pytest.mark.parametrize(
    "name",
    [
        "a.png",
        "../images/a.png",
        "images/a.png",
        "/home/me/pets/images/a.png",
        "C:\\pets\\images\\a.png",
        "images\\a.png",
        " 'images/a.png' ",
    ],
)
def test_names_are_found_from_another_folder(name: str, tmp_path: Path, look: Look) -> None:
    table = {"csv/labels.csv": f"filename,label\n{name},cat\n"}
    found, report = read(tmp_path, table, "images/a.png", "images/b.png")
    assert found.labels == {"images/a.png": "cat"}
    assert [problem.subject for problem in report.problems] == ["images/b.png"]
    alone = look(
        write(
            tmp_path / "flat",
            pictures("images/a.png") | {"l.csv": table["csv/labels.csv"].encode()},
        )
        / "l.csv"
    )
    assert alone.labels == {"cat": 1}


def test_a_part_of_a_path_never_means_two_files_or_one_that_has_a_row(tmp_path: Path) -> None:
    text = "path,label\nx/a.png,cat\nlost/b.png,dog\n/else/y/c.png,cat\n/else/c.png,dog\n"
    paths = ("x/a.png", "x/c.png", "y/c.png", "z/b.png", "x/b.png")
    found, report = read(tmp_path, {"l.csv": f"{text}dog/a.png,dog\n"}, *paths)
    assert found.labels == {"x/a.png": "cat", "y/c.png": "cat"}
    reasons = {problem.subject: problem.reason for problem in report.problems}
    assert reasons["l.csv, line 3"] == "several files have its name"
    assert reasons["l.csv, line 6"] == "there is no file of its path"
    assert report.label_tally.whole().lost == 3


def test_another_label_for_the_same_file_is_a_lost_label(tmp_path: Path) -> None:
    text = "path,label,class\na.png,cat,x\na.png,dog,x\na.png,cat,y\n"
    found, report = read(tmp_path, {"l.csv": text}, "a.png")
    assert (found.labels, found.attributes) == ({"a.png": "cat"}, {"a.png": {"class": "x"}})
    assert report.label_tally.lost == {"dog": 1}


def test_a_table_alone_that_is_not_understood_is_an_error(tmp_path: Path, look: Look) -> None:
    source = write(tmp_path, {"t.csv": b"size,label\n3,cat\n"}) / "t.csv"
    with pytest.raises(ImportFailedError, match="names no column of files") as refused:
        look(source)
    assert "auto" not in refused.value.hint
