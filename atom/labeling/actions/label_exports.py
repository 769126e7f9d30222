"""Exports of labels: counts what a format keeps, and writes an archive once it is confirmed."""

from __future__ import annotations

import zipfile
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from atom.core import storage
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.queries import query_of
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Version
from atom.labeling.actions.publishing import accepted_pictures
from atom.labeling.actions.transfer_progress import TransferProgress
from atom.labeling.actions.transfers import result_key
from atom.labeling.engines.checking import ontology_of
from atom.labeling.errors import NothingToExport
from atom.labeling.models import LabelTask, LabelTransfer
from atom_sdk.annotations.box_columns import BoxDocument
from atom_sdk.annotations.documents import Document, document_from_json
from atom_sdk.annotations.naming import to_named
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.label_formats.formats import look
from atom_sdk.label_formats.formats import write as write_labels
from atom_sdk.label_formats.interface import HUMAN, LabelledPicture, WriteChoices
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.version_labels import NoObjectsError, VersionLabels
from atom_sdk.manifests.query import Query, may_match

_Pictures = Callable[[], Iterator[LabelledPicture]]


def inspect(transfer: LabelTransfer, scratch: Path) -> dict[str, Any]:
    """Return what the archive will hold, and what its format changes and loses.

    Raises NothingToExport.
    """
    pictures, ontology, total = _source(transfer, scratch)
    watched = TransferProgress(transfer).watched(pictures(), total, 0.1, 1.0)
    report = look(watched, transfer.format, ontology, _choices(transfer))
    return _described(report, ontology)


def write(transfer: LabelTransfer, scratch: Path) -> dict[str, Any]:
    """Write the archive into the object store and return what it holds. Raises NothingToExport."""
    progress = TransferProgress(transfer)
    pictures, ontology, total = _source(transfer, scratch)
    folder, archive = scratch / "labels", scratch / "labels.zip"
    folder.mkdir()
    watched = progress.watched(pictures(), total, 0.0, 0.8)
    report = write_labels(watched, transfer.format, folder, ontology, _choices(transfer))
    progress.report(0.85, at_once=True)
    _pack(folder, archive)
    progress.report(0.95, at_once=True)
    with archive.open("rb") as file:
        storage.objects().put(result_key(transfer), file)
    transfer.result_bytes = archive.stat().st_size
    return _described(report, ontology)


def _described(report: LabelReport, ontology: Ontology) -> dict[str, Any]:
    if not report.pictures:
        raise NothingToExport
    return {"written": report.as_json(), "classes": [label.name for label in ontology.labels]}


def _choices(transfer: LabelTransfer) -> WriteChoices:
    return WriteChoices(transfer.options.get("yolo_task") or "")


def _source(transfer: LabelTransfer, scratch: Path) -> tuple[_Pictures, Ontology, int]:
    """Return the pictures each time from the first one, their ontology, and about how many."""
    if transfer.label_task is not None:
        return _of_task(transfer.label_task)
    if transfer.version is None:
        raise NothingToExport
    return _of_version(transfer.version, query_of(transfer.options.get("where", "")), scratch)


def _of_task(task: LabelTask) -> tuple[_Pictures, Ontology, int]:
    version = task.ontology_version
    ontology = ontology_of(version.full_labels, version.full_schema)

    def pictures() -> Iterator[LabelledPicture]:
        for row in accepted_pictures(task):
            document = row.document
            if isinstance(document, BoxDocument):
                document = document.as_json()
            if isinstance(document, Mapping):
                document = document_from_json(document)
            if isinstance(document, Document):
                document = to_named(document, ontology)
            yield LabelledPicture(row.path, document, source=HUMAN)

    return pictures, ontology, task.items.count()


def _of_version(
    version: Version, where: Query | None, scratch: Path
) -> tuple[_Pictures, Ontology, int]:
    store = version_store(version.dataset.project)
    root = store.root(version.readable_root)
    try:
        labels = VersionLabels(root, store.store, scratch)
    except NoObjectsError as error:
        raise NothingToExport(str(error)) from error
    chosen = None if where is None else _matching(version, where)

    def pictures() -> Iterator[LabelledPicture]:
        for picture in labels.pictures():
            if chosen is None or _holds(chosen, picture.path):
                yield picture

    return pictures, labels.ontology(), version.file_count


def _matching(version: Version, where: Query) -> list[str]:
    """Return the paths that match, in order, as the page of the dataset asks for them."""
    opened = open_version(version)
    paths: list[str] = []
    store = version_store(version.dataset.project)
    for part in store.root(version.readable_root).ranges:
        if may_match(where, part.min, part.max):
            rows = opened.matching(part, EntryFilter(where=where))
            paths += store.range(part)["path"].take(rows).to_pylist()
    return paths


def _holds(paths: list[str], path: str) -> bool:
    place = bisect_left(paths, path)
    return place < len(paths) and paths[place] == path


def _pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                out.write(path, path.relative_to(folder).as_posix())
