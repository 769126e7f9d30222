"""The detector learns, goes on from a checkpoint, and is the same as an ONNX file.

Its programs run in the environment that the main job's stack has built for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.e2e.detector_program import Program, ProgramFailedError, metrics_of
from tests.jobs.workflows.detection.shapes import (
    SHAPES,
    draw_shapes,
    object_row,
    shapes_dataset,
    write_dataset,
)
from tests.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1600)]

ANSWERS = """
import json, sys
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
about = session.get_modelmeta().custom_metadata_map
zeros = [np.zeros((pictures, 3, 96, 96), np.float32) for pictures in (1, 3)]
shapes = [[part.shape for part in session.run(None, {"images": images})] for images in zeros]
size = json.loads(about["preprocessing"])["size"]
print(json.dumps({"labels": json.loads(about["labels"]), "size": size, "shapes": shapes}))
"""
DIFFERENCE = """
import json, sys, torch
first, second = (torch.load(path, weights_only=True) for path in sys.argv[1:])
print(json.dumps([name for name in first if not torch.equal(first[name], second[name])]))
"""
WRONG_EXPORT = """
import json
import numpy as np, torch
import artifacts, export, network
def detector():
    small = network.SmallDetector(2, "small", 64, (127.0,) * 3, (64.0,) * 3)
    return artifacts.Detector(small, ["a", "b"], 64, "small", (127.0,) * 3, (64.0,) * 3)
torch.manual_seed(1)
none, right = np.empty((0, 3, 64, 64), np.uint8), detector()
pixels = export.export(right, none).pixels
code = ""
export.MOST_SCORE = -1.0
try:
    export.export(right, none)
except export.WrongExportError as error:
    code = error.code
print(json.dumps({"pixels": pixels, "code": code}))
"""
IGNORED = """
import json, torch
import losses, targets
cells = targets.cells_of(64)
logits, boxes = torch.zeros(1, len(cells), 2), torch.zeros(1, len(cells), 4)
values = [
    float(losses.loss_of(logits, boxes, torch.full((1, len(cells)), code), boxes).scores)
    for code in (targets.NOTHING, targets.IGNORED)
]
print(json.dumps(values))
"""


@pytest.fixture(scope="session")
def python(stack_of_two: Stack, demo_output: str) -> Path:
    """The interpreter of the runtime that the demo's detector was trained in."""
    assert "street@v4" in demo_output
    packages = "lib/python*/site-packages/onnxruntime"
    [runtime] = {path.parents[3] for path in stack_of_two.runtimes.glob(f"*/{packages}")}
    return runtime / "bin" / "python"


@pytest.fixture(scope="session")
def program(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(python, shapes_dataset(tmp_path_factory.mktemp("shapes"), 60))


def test_it_learns_and_hands_over_what_it_learned(program: Program, tmp_path: Path) -> None:
    outputs = program.train(tmp_path)
    losses = metrics_of(tmp_path, "train_loss")
    assert len(losses) == 4
    assert losses[-1] < 0.8 * losses[0]
    validation = json.loads((outputs / "validation.json").read_text())
    assert validation["metrics"]["map_50"] > 0.3
    assert validation["pictures"] == 12

    signature = json.loads((outputs / "model" / "atom.json").read_text())["signature"]
    assert signature["labels"] == list(SHAPES)
    assert 0 <= signature["onnx_max_difference"]["score"] < 1e-4
    assert 0 <= signature["onnx_max_difference"]["pixels"] < 0.05
    listed = json.loads((outputs / "mistakes.json").read_text())["pictures"]
    assert all((outputs / one["file"]).stat().st_size for one in listed)
    answers = program.answer(ANSWERS, str(outputs / "model" / "detector.onnx"))
    shapes = [[[count, 189, 3], [count, 189, 4]] for count in (1, 3)]
    assert answers == {"labels": list(SHAPES), "size": 96, "shapes": shapes}

    measured = program.evaluate(tmp_path / "evaluated", outputs / "model", "val")
    check_same_measures(json.loads((measured / "evaluation.json").read_text()), validation)


def check_same_measures(record: Any, validation: Any) -> None:
    """The workflow evaluate-detector measures what the training measured."""
    assert record["skipped"] == []
    same = ("metrics", "matrix", "labels", "kinds", "per_class", "threshold")
    assert {name: record[name] for name in same} == {name: validation[name] for name in same}


def test_a_training_that_was_cut_off_goes_on_as_if_it_had_not(
    program: Program, tmp_path: Path
) -> None:
    whole = program.train(tmp_path / "whole", epochs=2)
    cut = tmp_path / "whole" / "checkpoints" / "step-00000001"
    rest = program.train(tmp_path / "rest", resume=cut, epochs=2)
    assert len(metrics_of(tmp_path / "rest", "train_loss")) == 1
    weights = [str(outputs / "model" / "detector.pt") for outputs in (whole, rest)]
    assert program.answer(DIFFERENCE, *weights) == []


@pytest.mark.parametrize("unreadable", [False, True])
def test_one_picture_is_enough_to_train_on(python: Path, tmp_path: Path, unreadable: bool) -> None:
    picture, boxes = draw_shapes(np.random.default_rng(2))
    rows = [object_row(number, box) for number, box in enumerate(boxes)]
    assert rows
    files = {"a.png": b"no picture" if unreadable else picture}
    program = Program(python, write_dataset(tmp_path / "data", files, {"a.png": rows}))
    if unreadable:
        with pytest.raises(ProgramFailedError, match="None of the 1 pictures can be read"):
            program.train(tmp_path, epochs=1, image_size=64)
        failure = json.loads((tmp_path / "failure.json").read_text())
        assert failure["code"] == "nothing_readable"
    else:
        outputs = program.train(tmp_path, epochs=1, image_size=64)
        assert (outputs / "model" / "detector.onnx").exists()
        assert not (outputs / "validation.json").exists()


def test_an_export_that_answers_otherwise_fails(program: Program) -> None:
    answers = program.answer(WRONG_EXPORT)
    assert answers["pixels"] < 0.05
    assert answers["code"] == "export_differs"


def test_the_loss_counts_no_region_to_ignore(program: Program) -> None:
    nothing, ignored = program.answer(IGNORED)
    assert nothing > 0
    assert ignored == 0
