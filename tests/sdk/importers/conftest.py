"""Sources to import, and a look at what an import makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.collection import Collected
from atom_sdk.importers.report import Report

PNG = b"\x89PNG\r\n\x1a\n"
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
