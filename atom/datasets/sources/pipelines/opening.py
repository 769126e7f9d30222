"""Opens a reader for a source's description, within the administrator's limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.conf import settings

from atom.datasets.source_spec import AZURE, FOLDER, GCS, HDFS, HTTP, S3, SourceSpec, check_spec
from atom.datasets.sources.pipelines.azure import AzureReader
from atom.datasets.sources.pipelines.folder import FolderReader
from atom.datasets.sources.pipelines.gcs import GcsReader
from atom.datasets.sources.pipelines.hdfs import HdfsReader
from atom.datasets.sources.pipelines.http_list import HttpListReader
from atom.datasets.sources.pipelines.objects import SourceReader
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom.datasets.sources.pipelines.s3 import S3Reader

_READERS: dict[str, Callable[[SourceSpec, Sequence[str], Patience], SourceReader]] = {
    S3: S3Reader,
    HTTP: HttpListReader,
    AZURE: AzureReader,
    GCS: GcsReader,
    HDFS: HdfsReader,
}


def open_source(spec: SourceSpec, patience: Patience = BATCH) -> SourceReader:
    """Return a reader. Raises Invalid, SourceAddressRefused, SourceFolderRefused, SourceError."""
    check_spec(spec)
    if spec.kind == FOLDER:
        return FolderReader(spec, settings.ATOM_SOURCE_FOLDERS)
    return _READERS[spec.kind](spec, settings.ATOM_SOURCE_ALLOW, patience)
