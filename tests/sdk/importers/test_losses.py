"""Losses: counted by class and effect, compared with the share that may be lost, and told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.effects import coverage, effects
from atom_sdk.importers.errors import (
    AllowedLossError,
    FormatUnknownError,
    ImportProblemsError,
    LabelsLostError,
)
from atom_sdk.importers.losses import parse_share
from atom_sdk.importers.report_json import report_json
from tests.sdk.importers.conftest import PNG, Files, Look, collected, write


def labels_of(good: Mapping[int, int], bad: Mapping[int, int]) -> Files:
    """A YOLO set: lines of each class, and lines that have no area."""
    lines = [f"{number} .5 .5 .2 .2" for number, count in good.items() for _ in range(count)]
    lines += [f"{number} .5 .5 0 .2" for number, count in bad.items() for _ in range(count)]
    files: Files = {"data.yaml": b"names: [cat, dog]\n"}
    for place in range(0, len(lines), 100):
        files[f"{place}.png"] = PNG
        files[f"{place}.txt"] = "\n".join(lines[place : place + 100]).encode()
    return files


def refusal(source: Path, **options: Any) -> Any:
    look = Import(source, ImportOptions(**options), Silent())
    return look.refusal(look.look())


@pytest.mark.parametrize(
    ("good", "bad", "above"),
    [
        ({0: 99}, {0: 1}, []),
        ({0: 98}, {0: 2}, [(None, 100, 2), ("cat", 100, 2)]),
        ({0: 300, 1: 19}, {1: 1}, [("dog", 20, 1)]),
        ({0: 300, 1: 18}, {1: 1}, []),
    ],
)
def test_more_than_one_percent_of_all_or_of_a_large_class_is_refused(
    good: dict[int, int], bad: dict[int, int], above: list[Any], tmp_path: Path
) -> None:
    source = write(tmp_path / "yolo", labels_of(good, bad))
    refused = refusal(source)
    rows = refused.problem["losses"] if refused else []
    assert [(row.get("label"), row["source"], row["lost"]) for row in rows] == above
    if above:
        assert isinstance(refused, LabelsLostError)
        assert f"{above[0][2]} of {above[0][1]} objects" in str(refused)
        assert "--allow-loss" in refused.hint
    assert refusal(source, allowed_loss=0.05) is None
    assert isinstance(refusal(source, is_strict=True), ImportProblemsError)


def test_labels_of_a_classification_count_as_objects_do(tmp_path: Path) -> None:
    rows = "".join(f"{number}.png,cat\n" for number in range(40))
    files = {f"{number}.png": PNG for number in range(39)}
    source = write(tmp_path / "csv", files | {"labels.csv": f"path,label\n{rows}".encode()})
    refused = refusal(source)
    assert [row["share"] for row in refused.problem["losses"]] == [0.025, 0.025]
    assert "1 of 40 labels (2.5 %)" in str(refused)
    _, report = collected(source)
    assert effects(report) == ["1 picture left out with its 1 label"]


def test_the_report_has_the_numbers_that_a_program_needs(tmp_path: Path, look: Look) -> None:
    report = look(write(tmp_path / "yolo", labels_of({0: 100, 1: 20}, {0: 3})))
    values = json.loads(json.dumps(report_json(report, 0.01)))
    cat = {"kind": "object", "label": "cat", "source": 103, "lost": 3, "share": 0.029126}
    assert values["losses"]["classes"] == [cat]
    assert values["losses"]["whole"] == [
        {"kind": "object", "source": 123, "lost": 3, "share": 0.02439}
    ]
    assert (values["losses"]["allowed"], len(values["losses"]["above"])) == (0.01, 2)
    assert report.provenance()["import"]["counts"]["lost_objects"] == 3


def test_objects_that_do_not_fit_are_lost_and_said_so(tmp_path: Path, look: Look) -> None:
    lines = b"0 .512345 .5 .2 .2\n" * 10_100
    report = look(write(tmp_path, {"data.yaml": b"names: [cat]\n", "a.png": PNG, "a.txt": lines}))
    assert (report.objects, report.object_tally.lost["cat"]) == (10_000, 100)
    assert effects(report) == ["100 objects lost; their pictures stay with their other objects"]


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), (" 2.5 %", 0.025), ("0.05", 0.05), ("100%", 1), ("0", 0)]
)
def test_a_share_is_written_in_percent_or_as_a_fraction(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", "1.5", "-1%", "101%", "many", "", "nan", "0.5.1"])
def test_other_shares_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="%"):
        parse_share(text)
    with pytest.raises(AllowedLossError):
        ImportOptions(allowed_loss=1.5)


NEAR: dict[str, Files] = {
    "a list of pictures": {"train.txt": b"a.png\n"},
    "data.yaml was found": {"data.yaml": b"val: images/holdout\nnames: [cat]\n"},
    "a table was found and not understood": {"labels.csv": b"id_code,diagnosis\nx,2\n"},
    "no data.yaml or classes.txt": {"a.txt": b"0 0.5 0.5 0.2 0.2\n"},
    "LabelMe": {"a.json": b'{"version": "5.1", "shapes": [], "imagePath": "a.png"}'},
    "XML of CVAT": {"annotations.xml": b"<annotations><image></image></annotations>"},
    "Label Studio": {"tasks.json": b'[{"id": 1, "file_upload": "a.png", "annotations": []}]'},
}


@pytest.mark.parametrize(("reason", "files"), NEAR.items(), ids=NEAR)
def test_what_is_taken_as_a_plain_file_though_another_reading_was_near_is_said(
    reason: str, files: Files, tmp_path: Path, look: Look
) -> None:
    source = write(tmp_path / "x", files | {"a.png": PNG, "notes.txt": b"", "b.json": b"{}"})
    report = look(source)
    assert report.importer == "folder"
    (miss,) = report.near_misses
    assert (miss.subject in files, reason in miss.reason) == (True, True)
    assert isinstance(refusal(source, is_strict=True), ImportProblemsError)
    assert refusal(source, file_format="folder", is_strict=True) is None


def test_a_parquet_file_without_pictures_is_taken_as_a_file(tmp_path: Path, look: Look) -> None:
    source = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), source)
    report = look(source)
    assert (report.importer, report.files) == ("folder", 1)
    assert [miss.subject for miss in report.near_misses] == ["table.parquet"]
    with pytest.raises(FormatUnknownError) as refused:
        look(source, "parquet")
    assert "auto" not in refused.value.hint


def test_a_table_that_auto_does_not_understand_says_what_to_do(tmp_path: Path, look: Look) -> None:
    source = write(tmp_path, {"list.csv": b"name,label\na,b\n"}) / "list.csv"
    with pytest.raises(FormatUnknownError) as refused:
        look(source)
    assert "--format folder" in refused.value.hint
    assert look(source, "folder").files == 1


def test_near_misses_of_one_reason_are_told_in_one_line(tmp_path: Path, look: Look) -> None:
    labelme = b'{"shapes": [], "imagePath": "a.png"}'
    files: Files = {f"{number:03}.json": labelme for number in range(30)}
    report = look(write(tmp_path / "x", files | {"a.png": PNG}))
    (line,) = coverage(report)
    assert line.startswith("Not understood: 000.json, 001.json, 002.json and 27 more: LabelMe JSON")
    assert (len(report.near_misses), sum(report.near_miss_counts.values())) == (20, 30)
