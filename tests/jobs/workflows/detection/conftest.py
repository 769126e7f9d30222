"""Modules of the workflow's folder, which import each other by their bare names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from atom.jobs.workflows.actions.workflows import BUILT_IN

FOLDER, EVALUATION = BUILT_IN / "object_detection", BUILT_IN / "evaluate_detector"
Module = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def module() -> Iterator[Module]:
    """Import a module of the folder; after the tests none of them is left."""
    names = {path.stem for folder in (FOLDER, EVALUATION) for path in Path(folder).glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    # The evaluation's modules are links to those of the training, but for its program.
    sys.path[:0] = [str(FOLDER), str(EVALUATION)]
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(FOLDER))
        sys.path.remove(str(EVALUATION))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)
