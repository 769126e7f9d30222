"""Tables of datasets: together, since their foreign keys form circles."""

from atom.datasets.models.checks import CatalogueCheck
from atom.datasets.models.commits import CommitRequest, Upload
from atom.datasets.models.datasets import (
    Branch,
    Dataset,
    DatasetQuerySet,
    LegalHold,
    LiveManager,
    Pack,
    Tag,
    Version,
    VersionPin,
)
from atom.datasets.models.garbage import CondemnedObject, GarbageRun
from atom.datasets.models.operations import DismissedOperation
from atom.datasets.models.pyramids import PicturePyramid
from atom.datasets.models.replicas import Replica, Store, StoredPack
from atom.datasets.models.sources import Source, SourceScan
from atom.datasets.models.views import SavedView
from atom.datasets.models.writers import WriteJob, Writer, WriteTask
from atom.datasets.refs import resolve_ref

__all__ = [
    "Branch",
    "CatalogueCheck",
    "CommitRequest",
    "CondemnedObject",
    "Dataset",
    "DatasetQuerySet",
    "DismissedOperation",
    "GarbageRun",
    "LegalHold",
    "LiveManager",
    "Pack",
    "PicturePyramid",
    "Replica",
    "SavedView",
    "Source",
    "SourceScan",
    "Store",
    "StoredPack",
    "Tag",
    "Upload",
    "Version",
    "VersionPin",
    "WriteJob",
    "WriteTask",
    "Writer",
    "resolve_ref",
]
