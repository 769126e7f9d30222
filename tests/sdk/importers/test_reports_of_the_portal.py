"""Reports that the portal's tests read: its sentences must be those of the command line."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import atom_sdk.importers
from atom_sdk import label_formats
from atom_sdk.importers.effects import loss_text
from atom_sdk.importers.report import Report
from atom_sdk.importers.report_json import report_json

ROOT = Path(__file__).parents[3]
PORTAL = ROOT / "frontend" / "src" / "features" / "datasets" / "importing"
FIXTURE = PORTAL / "reports.fixture.json"
ALLOWED = 0.01
_SHAPES = ("polygon", "keypoints", "mask", "rotated box", "part", "attribute", "outline")


def _report(name: str, count: int) -> Report:
    """Return a report with every effect, `count` of each."""
    report = Report(f"pets@v1:{name}", importer="coco", why="a.json has the lists of a COCO file")
    report.files, report.size_bytes = 120, 4096
    report.object_tally.kept.update({"cat": 97, "dog": 20})
    report.label_tally.kept.update({"indoor": 90})
    for number in range(count):
        path = f"images/{number}.png"
        report.lose_objects(path, "a box has no area", "cat")
        report.empty_picture(path)
        report.lose_objects(path, "there is no such picture", "dog", orphaned=True)
        report.lose_label(path, "its label is no text of 1 to 255 bytes; it goes without", "in")
        report.lose_picture(path, "no annotation names it", {"cat": 2}, "indoor")
        for kind in _SHAPES:
            report.leave_out_shapes(path, kind)
        report.near_miss(f"{number}.json", "LabelMe JSON was found; it is not read yet")
        report.name_missing("train.txt", path)
        report.name_unlisted(path)
        report.name_unlabelled(path)
    return report


def _plain() -> Report:
    """Return a report of objects that are lost from pictures that keep others."""
    report = Report("pets@v1", importer="yolo", why="it was asked for")
    report.object_tally.kept.update({"cat": 117})
    report.lose_objects("a.png", "a box has no area", "cat", 3)
    report.lose_picture("b.png", "it cannot be fetched")
    return report


def _documents() -> list[dict[str, Any]]:
    reports = [_report("one.zip", 1), _report("many.zip", 5), _plain(), Report("empty.zip")]
    return [
        {
            "report": report_json(report, ALLOWED),
            "loss_text": loss_text(report.losses_above(ALLOWED)),
        }
        for report in reports
    ]


def test_the_portals_tests_read_reports_of_this_sdk() -> None:
    expected = json.loads(json.dumps(_documents()))
    assert json.loads(FIXTURE.read_text("utf-8")) == expected, (
        f"write it anew: python -m {__name__}"
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_reasons_that_the_portal_translates_are_those_of_the_importers(language: str) -> None:
    """A reason that was reworded would silently be shown in English."""
    source = (PORTAL / f"reasons.{language}.ts").read_text("utf-8")
    keys = re.findall(r"""^  (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"):""", source, re.MULTILINE)
    wanted = {(one or other).replace("\\'", "'") for one, other in keys}
    assert len(wanted) > 5
    assert wanted - _texts() == set()


def _texts() -> set[str]:
    """Return the texts of the importers' code, with `{}` for each value."""
    found: set[str] = set()
    folders = [Path(each.__file__ or "").parent for each in (atom_sdk.importers, label_formats)]
    for path in (path for folder in folders for path in folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                # A sentence names its values.
                found |= {node.value, re.sub(r"\{\w+[^{}]*\}", "{}", node.value)}
            elif isinstance(node, ast.JoinedStr):
                parts = (
                    one.value if isinstance(one, ast.Constant) else "{}" for one in node.values
                )
                found.add("".join(map(str, parts)))
    return found


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(_documents(), indent=1, ensure_ascii=False) + "\n", "utf-8")
