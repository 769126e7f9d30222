"""Which folders look like classes or splits; the portal's tests read the same cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.manifests.layers.class_folders import folder_shape, split_of_path

CASES = json.loads(Path(__file__).with_name("class_folders.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_folders_of_pictures(case: dict[str, Any]) -> None:
    shape = folder_shape(case["paths"])
    assert list(shape.classes) == case["classes"]
    assert [list(split) for split in shape.splits] == case["splits"]


def test_a_path_is_in_the_split_of_its_folder() -> None:
    shape = folder_shape(["train/a/1.png", "train/b/2.png", "valid/a/3.png", "valid/b/4.png"])
    assert split_of_path("valid/a/3.png", shape) == "val"
    assert split_of_path("valid.txt", shape) is None
