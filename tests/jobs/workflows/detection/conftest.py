"""Modules of the workflow's folder, which import each other by their bare names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from atom.jobs.workflows.actions.workflows import BUILT_IN

FOLDER = BUILT_IN / "object_detection"
Module = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def module() -> Iterator[Module]:
    """Import a module of the folder; after the tests none of them is left."""
    names = {path.stem for path in Path(FOLDER).glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)
