"""Archives from Python: `Client().archives.save(...)`, `.load(...)`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from atom_sdk.client.http import Http
from atom_sdk.client.progress import Progress, Silent

if TYPE_CHECKING:
    from atom_sdk.client.archive_load import LoadResult
    from atom_sdk.client.archive_save import SaveOptions, SaveResult
    from atom_sdk.client.datasets import Datasets


class Archives:
    """Moves datasets of one project into folders and back; `check_archive` needs no server."""

    def __init__(self, datasets: Datasets, http: Http) -> None:
        self._datasets = datasets
        self._http = http

    def save(
        self,
        dataset: str,
        folder: Path | str,
        options: SaveOptions | None = None,
        progress: Progress | None = None,
    ) -> SaveResult:
        """Save a dataset with its history into a folder; a save that was cut off goes on."""
        from atom_sdk.client.archive_save import Save, SaveOptions

        save = Save(self._datasets, self._http, progress or Silent())
        return save.run(dataset, Path(folder), options or SaveOptions())

    def load(
        self,
        folder: Path | str,
        saved: str | None = None,
        name: str | None = None,
        progress: Progress | None = None,
    ) -> LoadResult:
        """Load the dataset `saved` of a folder, as `name`; loading twice changes nothing."""
        from atom_sdk.client.archive_load import Load

        load = Load(self._datasets, self._http, progress or Silent())
        return load.run(Path(folder), saved, name)
