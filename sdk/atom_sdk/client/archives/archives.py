"""Archives from Python: `Client().archives.save(...)`, `.load(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from atom_sdk.client.progress import Progress, Silent

if TYPE_CHECKING:
    from atom_sdk.client import Client
    from atom_sdk.client.archives.external_objects import SourceChoice
    from atom_sdk.client.archives.load import LoadResult
    from atom_sdk.client.archives.save import SaveOptions, SaveResult


class Archives:
    """Moves datasets of one project into folders and back, or into another project."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._datasets = client.datasets
        self._http = client.http

    def save(
        self,
        dataset: str,
        folder: Path | str,
        options: SaveOptions | None = None,
        progress: Progress | None = None,
    ) -> SaveResult:
        """Save a dataset with its history into a folder; a save that was cut off goes on."""
        from atom_sdk.client.archives.save import Save, SaveOptions

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
        from atom_sdk.client.archives.load import Load

        load = Load(self._datasets, self._http, progress or Silent())
        return load.run(Path(folder), saved, name)

    def copy_to(
        self,
        target: Client,
        dataset: str,
        name: str | None = None,
        refs: Sequence[str] = (),
        progress: Progress | None = None,
        sources: SourceChoice | None = None,
    ) -> LoadResult:
        """Copy a dataset with its history into the target's project; again, it goes on."""
        from atom_sdk.client.archives.copy import Copy
        from atom_sdk.client.archives.external_objects import WITHOUT_SOURCES

        copy = Copy(self._client, target, progress or Silent())
        return copy.run(dataset, name, refs, sources or WITHOUT_SOURCES)
