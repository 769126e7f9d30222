"""`atom labels convert` and what it says before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.cli import main as command_line
from atom_sdk.cli.context import Context
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import folder_tree
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.converting import NothingConvertedError
from atom_sdk.label_formats.interface import LabelledPicture
from tests.sdk.label_formats.sources import fill, ontology_of, read
from tests.sdk.label_formats.test_variants import PICTURES, annotation, coco


def atom(*words: str) -> int:
    context = Context()
    try:
        done = command_line.cli.main(list(words), standalone_mode=False, obj=context)
    finally:
        context.close()
    return done if isinstance(done, int) else 0


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [
        annotation(bbox=[1, 1, 2, 2]),
        annotation(id=8, segmentation=[[1, 1, 9, 1, 9, 9]], attributes={"old": True}),
    ]
    return fill(tmp_path / "source", {**PICTURES, "instances_val.json": coco(annotations=rows)})


def test_a_dry_run_says_what_the_conversion_says(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ("--json", "labels", "convert", str(source), "--format", "voc")
    atom(*words, "--dry-run")
    before: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert not out.exists()

    atom(*words, "--out", str(out))
    after = json.loads(capsys.readouterr().out)

    assert before == after
    assert after["read"]["format"] == "coco"
    assert [row["code"] for row in after["written"]["changed"]] == ["formats.polygons_as_boxes"]
    fill(out, PICTURES)
    labels = read(out)
    assert labels.format == "voc"
    assert len(labels.objects("images/a.png")) == 2


def test_a_folder_that_holds_something_is_not_written_over(source: Path, tmp_path: Path) -> None:
    from atom_sdk.label_formats.targets import TargetTakenError

    out = fill(tmp_path / "out", {"mine.txt": "mine"})
    with pytest.raises(TargetTakenError):
        atom("labels", "convert", str(source), "--format", "voc", "--out", str(out))
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_a_conversion_that_fails_leaves_no_folder(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (source / "instances_val.json").write_text('{"images": [')
    with pytest.raises(AnnotationsUnreadableError):
        atom("labels", "convert", str(source), "--format", "voc", "--out", str(out))
    assert not out.exists()


@pytest.mark.parametrize("name", ["voc", "yolo"])
def test_two_pictures_of_one_stem_cannot_both_have_a_file(name: str, tmp_path: Path) -> None:
    document = NamedDocument(8, 8)
    drawn = [LabelledPicture(f"v1.0/{path}", document) for path in ("a.png", "a.jpg", "b")]

    before = formats.look(drawn, name, ontology_of(drawn))
    after = formats.write(drawn, name, tmp_path, ontology_of(drawn))

    assert before.as_json() == after.as_json()
    assert after.counts == {"name_taken": 1}
    assert after.subjects == {"name_taken": ["v1.0/a.jpg"]}
    assert len([*tmp_path.rglob("v1.0/*")]) == 2


YOLO_FILES: dict[str, str | bytes] = {
    "labels/a.txt": "0 0.5 0.5 0.25 0.25\n",
    "data.yaml": "path: .\ntask: detect\nnames:\n  0: car\n",
}


def test_yolo_without_pictures_is_refused_and_read_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, images = fill(tmp_path / "yolo", YOLO_FILES), fill(tmp_path / "pictures", PICTURES)
    words = ("--json", "labels", "convert", str(source), "--format", "coco")
    with pytest.raises(NothingConvertedError, match="without their picture") as refused:
        atom(*words, "--out", str(tmp_path / "out"))
    assert "--images" in refused.value.hint
    assert not (tmp_path / "out").exists()

    atom(*words, "--images", str(images), "--out", str(tmp_path / "out"))

    answer = json.loads(capsys.readouterr().out)
    assert (answer["written"]["pictures"], answer["written"]["objects"]) == (1, {"box": 1})


@pytest.mark.parametrize(
    ("text", "place"),
    [("[1,2", "line 1 column 5"), ('{"a":\n [1}', "line 2 column 4"), ("[1] x", "column 5")],
)
def test_broken_json_is_said_with_its_place(text: str, place: str, tmp_path: Path) -> None:
    source = fill(tmp_path / "source", {"labels.json": text})
    with pytest.raises(AnnotationsUnreadableError, match=r"labels\.json is not JSON") as broken:
        formats.choose("auto", folder_tree(source, Report("")))
    assert place in str(broken.value)


def test_json_of_another_kind_is_no_known_format(tmp_path: Path) -> None:
    source = fill(tmp_path / "source", {"labels.json": '{"a": [1]}'})
    with pytest.raises(formats.NoKnownFormatError) as unknown:
        formats.choose("auto", folder_tree(source, Report("")))
    assert "auto" not in unknown.value.hint


def test_yolo_names_the_task_that_it_took_and_the_others(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("labels", "convert", str(source), "--format", "yolo", "--dry-run")
    atom(*words)
    [note] = [line for line in capsys.readouterr().out.splitlines() if "note" in line]
    assert "The YOLO task is segment" in note
    assert "detect, obb, pose" in note
    assert "--yolo-task" in note
    atom("--json", *words)
    [entry] = json.loads(capsys.readouterr().out)["written"]["notes"]
    assert entry["code"] == "formats.yolo_task_taken"
    assert entry["params"]["task"] == "segment"
    atom("--json", *words, "--yolo-task", "detect")
    assert "notes" not in json.loads(capsys.readouterr().out)["written"]
