"""Sources to import, and a look at what an import makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.collection import Collected
from atom_sdk.importers.report import Report


def _png(width: int, height: int) -> bytes:
    sink = BytesIO()
    Image.new("1", (width, height)).save(sink, "PNG")
    return sink.getvalue()


# 64 x 48 pixels; bytes after it make another file of the same size.
PNG = _png(64, 48)
Files = dict[str, bytes]
Look = Callable[..., Report]


def write(folder: Path, files: Files) -> Path:
    """Write files below a folder."""
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def collected(
    source: Path, file_format: str = "auto", **options: object
) -> tuple[Collected, Report]:
    """Return the items of a source and the report; nothing is downloaded."""
    chosen = ImportOptions(file_format=file_format, **options)  # type: ignore[arg-type]
    with Import(source, chosen, Silent())._collected(is_dry=True) as result:
        return result


def objects_in(found: Collected, path: str) -> list[dict[str, Any]]:
    """Return the objects of a picture without their ids."""
    objects = json.loads(found.documents[path]).get("objects", [])
    return [{name: value for name, value in one.items() if name != "id"} for one in objects]


def the_object(found: Collected) -> dict[str, Any]:
    """Return the only object of the only picture, without its id."""
    (path,) = found.documents
    (one,) = objects_in(found, path)
    return one


def classes_in(found: Collected, path: str) -> list[str]:
    """Return the classes of the objects of a picture."""
    return [one["label"] for one in objects_in(found, path)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def look() -> Look:
    """Say what would be imported."""

    def look(source: Path, file_format: str = "auto", **options: object) -> Report:
        wanted = ImportOptions(file_format=file_format, **options)  # type: ignore[arg-type]
        return Import(source, wanted, Silent()).look()

    return look
