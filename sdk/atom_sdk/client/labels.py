"""Labels of dataset versions from Python: to and from the formats of other tools."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.client.config import cache_path
from atom_sdk.client.datasets import Datasets
from atom_sdk.client.label_imports import ImportOrder, LabelImports
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.manifest import RemoteManifest

if TYPE_CHECKING:
    from atom_sdk.label_formats.interface import WriteChoices
    from atom_sdk.label_formats.report import LabelReport
    from atom_sdk.label_formats.version_labels import VersionLabels


class Labels:
    """Labels of the versions of one project's datasets."""

    def __init__(self, http: Http, project: str, datasets: Datasets) -> None:
        self._http = http
        self._datasets = datasets
        self._imports = LabelImports(http, project, datasets)

    def look_at_import(self, order: ImportOrder) -> dict[str, Any]:
        """Return what an import would bring, and send nothing.

        Raises ApiError, ImportFailedError, OSError.
        """
        return self._imports.look(order)

    def import_(
        self,
        order: ImportOrder,
        *,
        resume: bool = False,
        progress: Progress | None = None,
        show: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Make labels of this machine part of the next version; return the transfer as it ended.

        With `resume` an import of the same files that was cut off goes on. `show` gets the report
        of what was read before anything is sent. Raises ApiError, ImportFailedError,
        LabelImportFailedError, UploadRejectedError, OSError.
        """
        return self._imports.bring(order, resume=resume, progress=progress, show=show)

    def look(
        self, reference: str, file_format: str, choices: WriteChoices | None = None
    ) -> LabelReport:
        """Return what `export` would report, and write nothing.

        Raises ApiError, NoObjectsError, FormatUnknownError.
        """
        from atom_sdk.label_formats.formats import look

        with self._labels(reference) as labels:
            return look(labels.pictures(), file_format, labels.ontology(), choices)

    def export(
        self,
        reference: str,
        file_format: str,
        folder: str | Path,
        choices: WriteChoices | None = None,
    ) -> LabelReport:
        """Write the labels of a version into a new folder.

        The cache keeps each download, so that an export that was cut off goes on from there.
        Raises ApiError, NoObjectsError, FormatUnknownError, TargetTakenError, OSError.
        """
        from atom_sdk.label_formats.formats import write
        from atom_sdk.label_formats.targets import new_folder

        with self._labels(reference) as labels, new_folder(Path(folder)) as target:
            return write(labels.pictures(), file_format, target, labels.ontology(), choices)

    @contextmanager
    def _labels(self, reference: str) -> Iterator[VersionLabels]:
        from atom_sdk.label_formats.version_labels import VersionLabels

        manifest = RemoteManifest(self._http, self._datasets.version_base(reference))
        cache_path().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_path(), prefix="labels-") as scratch:
            yield VersionLabels(manifest.root, manifest, Path(scratch))
