"""The built-in workflows' definitions, and how training data is chosen (no torch needed)."""

from __future__ import annotations

import importlib.util
import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from atom.jobs.workflows.engines.workflow_files import load_workflows

WORKFLOWS = Path(__file__).parents[3] / "atom" / "jobs" / "workflows" / "builtin"


@dataclass
class Sample:
    path: str


@dataclass
class Samples:
    """The samples of `atom_sdk.run.dataset`, as far as `data.py` looks at them."""

    classes: list[str]
    label_codes: NDArray[np.int32]
    paths: list[str] = field(default_factory=list)

    @property
    def dataset(self) -> Samples:
        return self

    @property
    def index(self) -> Samples:
        return self

    @property
    def rows(self) -> range:
        return range(len(self))

    def path_of(self, row: int) -> str:
        return self.paths[row] if self.paths else f"images/{row:05d}.png"

    def __len__(self) -> int:
        return len(self.label_codes)

    def __getitem__(self, number: int) -> Sample:
        return Sample(f"images/{number:05d}.png")


def _module(name: str) -> ModuleType:
    path = WORKFLOWS / "image_classification" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"image_classification_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data() -> ModuleType:
    return _module("data")


def test_the_learning_rate_has_a_schedule_for_any_number_of_steps() -> None:
    share = _module("schedule").warm_up_share
    assert all(0 < share(steps) < 1 and share(steps) * steps != 1 for steps in range(1, 10_000))


def test_definitions_are_well_formed_and_bring_all_their_code() -> None:
    found = {workflow.slug: workflow for workflow in load_workflows(WORKFLOWS)}
    assert set(found) == {
        "image-classification",
        "evaluate-classifier",
        "measure-images",
        "video-frames",
        "import-annotations",
        "object-detection",
        "evaluate-detector",
    }
    assert [workflow.slug for workflow in found.values() if workflow.writes] == [
        "import-annotations",
        "video-frames",
    ]
    for workflow in found.values():
        assert "==" in workflow.requirements
        assert workflow.command[-1] in workflow.code
    for workflow in (found["image-classification"], found["evaluate-classifier"]):
        assert "torch==" in workflow.requirements
        assert {"network.py", "images.py", "artifacts.py"} <= set(workflow.code)
    names = [parameter.name for parameter in found["image-classification"].parameters]
    assert {"dataset", "epochs", "register_model", "seed"} <= set(names)


def test_only_unlabelled_data_is_a_plain_sentence(data: ModuleType) -> None:
    with pytest.raises(data.NoLabelsError, match="None of the 3 images") as without:
        data.labelled(Samples(["a", "b"], np.array([-1, -1, -1], np.int32)))
    assert (without.value.code, without.value.params["files"]) == ("no_labels", 3)
    assert without.value.params["class_folders"] == 0


def test_unlabelled_data_in_class_folders_is_told_as_such(data: ModuleType) -> None:
    paths = [f"{name}/{number}.png" for name in ("circle", "square") for number in range(2)]
    with pytest.raises(data.NoLabelsError) as without:
        data.labelled(Samples([], np.full(4, -1, np.int32), paths))
    assert without.value.params["class_folders"] == 2


def test_one_class_is_a_plain_sentence(data: ModuleType) -> None:
    with pytest.raises(data.TooFewClassesError, match="label 'b'") as alone:
        data.labelled(Samples(["a", "b"], np.array([1, 1, -1], np.int32)))
    assert (alone.value.code, alone.value.params["label"]) == ("one_class", "b")


def test_classes_without_an_image_are_left_out(data: ModuleType) -> None:
    part, classes = data.labelled(Samples(["a", "b", "c"], np.array([2, -1, 0, 2], np.int32)))
    assert classes == ["a", "c"]
    assert part.numbers.tolist() == [0, 2, 3]
    assert part.targets.tolist() == [1, 0, 1]


def test_validation_is_a_tenth_of_each_class_and_the_same_every_time(data: ModuleType) -> None:
    codes = np.array([0] * 100 + [1] * 50 + [2] * 5, np.int32)
    everything, _ = data.labelled(Samples(["a", "b", "c"], codes))
    training, validation = data.carve_validation(everything, seed=7)
    assert np.bincount(validation.targets, minlength=3).tolist() == [10, 5, 0]
    assert not set(training.numbers) & set(validation.numbers)
    assert len(training) + len(validation) == len(codes)
    again = data.carve_validation(everything, seed=7)[1]
    assert again.numbers.tolist() == validation.numbers.tolist()
    other = data.carve_validation(everything, seed=8)[1]
    assert other.numbers.tolist() != validation.numbers.tolist()


def test_images_are_scaled_and_turned_before_they_are_learned_from() -> None:
    images = _module("images")
    form = images.ImageFormat(80, 1)
    ramp = np.linspace(0, 65535, 80)[None].repeat(80, 0).astype(np.uint16)
    exif = Image.Exif()
    exif[0x0112] = 6

    def decoded(pixels: NDArray[Any], kind: str = "png") -> NDArray[np.uint8]:
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, kind, exif=exif)
        found: NDArray[np.uint8] = images.decode(memoryview(file.getvalue()), form)[0]
        return found

    scaled = np.rint(ramp / 257)
    assert np.abs(decoded(ramp).astype(int) - scaled.T).max() <= 1, "from above to below"
    assert np.abs(decoded(ramp.astype(np.int32), "ppm").astype(int) - scaled).max() <= 1
    with pytest.raises(images.UnreadableImageError, match="black and white"):
        decoded(ramp.astype(np.float32), "tiff")
