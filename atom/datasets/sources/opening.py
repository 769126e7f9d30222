"""From a source's description to a reader, within what the administrator allows."""

from __future__ import annotations

from django.conf import settings

from atom.datasets.sources.folder import FolderReader
from atom.datasets.sources.http_list import HttpListReader
from atom.datasets.sources.objects import SourceReader
from atom.datasets.sources.patience import BATCH, Patience
from atom.datasets.sources.s3 import S3Reader
from atom.datasets.sources.spec import FOLDER, HTTP, SourceSpec, check_spec


def open_source(spec: SourceSpec, patience: Patience = BATCH) -> SourceReader:
    """Return a reader. Raises Invalid, SourceAddressRefused, SourceFolderRefused, SourceError."""
    check_spec(spec)
    if spec.kind == FOLDER:
        return FolderReader(spec, settings.ATOM_SOURCE_FOLDERS)
    if spec.kind == HTTP:
        return HttpListReader(spec, settings.ATOM_SOURCE_ALLOW, patience)
    return S3Reader(spec, settings.ATOM_SOURCE_ALLOW, patience)
