"""The network learns, goes on from a checkpoint, and is the same as an ONNX file; needs torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atom_sdk import run
from tests.jobs.workflows.detection.conftest import Module
from tests.jobs.workflows.detection.shapes import (
    SHAPES,
    draw_shapes,
    object_row,
    shapes_dataset,
    write_dataset,
)

torch = pytest.importorskip("torch", reason="the environment of the workflow has torch")
onnxruntime = pytest.importorskip("onnxruntime", reason="and ONNX")

pytestmark = [pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]
PARAMETERS = {"dataset": "shapes@v1", "epochs": 4, "image_size": 96, "batch_size": 8, "seed": 3}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return shapes_dataset(tmp_path_factory.mktemp("shapes"), 60)


def train(
    module: Module, monkeypatch: pytest.MonkeyPatch, folder: Path, data: dict[str, str], **more: Any
) -> Path:
    """Train in a folder and return its outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "parameters.json").write_text(json.dumps(PARAMETERS | more))
    values = {
        **data,
        "ATOM_PARAMETERS": str(folder / "parameters.json"),
        "ATOM_OUTPUT_DIR": str(folder / "outputs"),
        "ATOM_CHECKPOINT_DIR": str(folder / "checkpoints"),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(run, "params", type(run.params)())
    torch.set_num_threads(1)
    module("train").main()
    return folder / "outputs"


def test_it_learns_and_hands_over_what_it_learned(
    module: Module, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: dict[str, str]
) -> None:
    logged: list[dict[str, float]] = []
    monkeypatch.setattr(run, "log", lambda values, step: logged.append(values))
    outputs = train(module, monkeypatch, tmp_path, data)

    losses = [one["train_loss"] for one in logged if "train_loss" in one]
    assert len(losses) == 4
    assert losses[-1] < 0.8 * losses[0]
    found = json.loads((outputs / "validation.json").read_text())
    assert found["metrics"]["map_50"] > 0.3
    assert found["pictures"] == 12

    atom = json.loads((outputs / "model" / "atom.json").read_text())
    assert atom["signature"]["labels"] == list(SHAPES)
    difference = atom["signature"]["onnx_max_difference"]
    assert 0 <= difference["score"] < 1e-4
    assert 0 <= difference["pixels"] < 0.05
    listed = json.loads((outputs / "mistakes.json").read_text())["pictures"]
    assert all((outputs / one["file"]).stat().st_size for one in listed)
    check_onnx(outputs / "model" / "detector.onnx")

    detector = module("artifacts").load_detector(outputs)
    assert detector.labels == list(SHAPES)
    assert detector.threshold == found["threshold"]
    evaluate(module, monkeypatch, tmp_path, found)


def check_onnx(path: Path) -> None:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["labels"]) == list(SHAPES)
    assert json.loads(metadata["preprocessing"])["size"] == 96
    for pictures in (1, 3):
        images = np.zeros((pictures, 3, 96, 96), np.float32)
        scores, boxes = session.run(None, {"images": images})
        assert scores.shape == (pictures, 189, 3)
        assert boxes.shape == (pictures, 189, 4)


def evaluate(
    module: Module, monkeypatch: pytest.MonkeyPatch, folder: Path, validation: Any
) -> None:
    """The workflow evaluate-detector measures what the training measured."""
    (folder / "parameters.json").write_text(json.dumps({"split": "val", "dataset": "shapes@v1"}))
    monkeypatch.setenv("ATOM_OUTPUT_DIR", str(folder / "evaluated"))
    monkeypatch.setenv("ATOM_INPUT_DIR", str(folder / "outputs" / "model"))
    monkeypatch.setattr(run, "params", type(run.params)())
    measured = module("evaluate").main
    measured()
    record = json.loads((folder / "evaluated" / "evaluation.json").read_text())
    assert record["skipped"] == []
    same = ("metrics", "matrix", "labels", "kinds", "per_class", "threshold")
    assert {name: record[name] for name in same} == {name: validation[name] for name in same}


def test_a_training_that_was_cut_off_goes_on_as_if_it_had_not(
    module: Module, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: dict[str, str]
) -> None:
    whole = train(module, monkeypatch, tmp_path / "whole", data, epochs=2)
    cut = tmp_path / "whole" / "checkpoints" / "step-00000001"
    monkeypatch.setenv("ATOM_RESUME_DIR", str(cut))
    monkeypatch.setenv("ATOM_RESUME_STEP", "1")
    rest = train(module, monkeypatch, tmp_path / "rest", data, epochs=2)
    first, second = (
        torch.load(outputs / "model" / "detector.pt", weights_only=True)
        for outputs in (whole, rest)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("unreadable", [False, True])
def test_one_picture_is_enough_to_train_on(
    module: Module, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, unreadable: bool
) -> None:
    picture, boxes = draw_shapes(np.random.default_rng(2))
    rows = [object_row(number, box) for number, box in enumerate(boxes)]
    assert rows
    files = {"a.png": b"no picture" if unreadable else picture}
    data = write_dataset(tmp_path / "data", files, {"a.png": rows})
    if unreadable:
        with pytest.raises(run.RunFailure, match="None of the 1 pictures can be read"):
            train(module, monkeypatch, tmp_path, data, epochs=1, image_size=64)
    else:
        outputs = train(module, monkeypatch, tmp_path, data, epochs=1, image_size=64)
        assert (outputs / "model" / "detector.onnx").exists()
        assert not (outputs / "validation.json").exists()


def test_an_export_that_answers_otherwise_fails(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    export, artifacts = module("export"), module("artifacts")
    network = module("network").SmallDetector(2, "small", 64, (127.0,) * 3, (64.0,) * 3)
    detector = artifacts.Detector(network, ["a", "b"], 64, "small", (127.0,) * 3, (64.0,) * 3)
    none = np.empty((0, 3, 64, 64), np.uint8)
    assert export.export(detector, none).pixels < 0.05
    monkeypatch.setattr(export, "MOST_SCORE", -1.0)
    with pytest.raises(export.WrongExportError) as error:
        export.export(detector, none)
    assert error.value.code == "export_differs"


def test_the_loss_counts_no_region_to_ignore(module: Module) -> None:
    losses, targets = module("losses"), module("targets")
    cells = targets.cells_of(64)
    logits = torch.zeros(1, len(cells), 2)
    boxes = torch.zeros(1, len(cells), 4)
    nothing = torch.full((1, len(cells)), targets.NOTHING)
    ignored = torch.full((1, len(cells)), targets.IGNORED)
    assert losses.loss_of(logits, boxes, nothing, boxes).scores > 0
    assert losses.loss_of(logits, boxes, ignored, boxes).scores == 0
