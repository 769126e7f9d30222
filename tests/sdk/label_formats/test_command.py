"""`atom labels convert` and what it says before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.cli import main as command_line
from atom_sdk.cli.context import Context
from atom_sdk.label_formats import formats
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
    from atom_sdk.importers.errors import AnnotationsUnreadableError

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
