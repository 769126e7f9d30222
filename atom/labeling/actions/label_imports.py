"""Imports of labels: reads and matches an upload, and publishes its rows once it is confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom.core import clock, storage
from atom.core.crash_points import reach
from atom.datasets.catalog.stores import version_store
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.errors import EmptyCommit, RefNotFound
from atom.datasets.models import Branch, Version
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.sentences import branch_unknown
from atom.datasets.versions.engines.object_layers import KEY, MergeRows
from atom.labeling.actions.picture_sizes import VersionPictures
from atom.labeling.actions.transfer_progress import TransferProgress
from atom.labeling.actions.transfers import ADD, REFUSE, rows_key
from atom.labeling.engines import objects
from atom.labeling.errors import LabelsPresent, UploadNotReady
from atom.labeling.models import LabelTransfer
from atom_sdk.annotations.layer import PictureRow
from atom_sdk.annotations.merging import add_rows
from atom_sdk.importers.limits import GIB, ArchiveLimits
from atom_sdk.label_formats.incoming import IncomingLabels
from atom_sdk.label_formats.interface import LabelledPicture, ReadChoices
from atom_sdk.label_formats.known_pictures import MatchedPictures, picture_table
from atom_sdk.label_formats.label_sources import open_labels
from atom_sdk.label_formats.sorted_rows import mapped_rows, write_sorted_rows
from atom_sdk.manifests.layers.layers import merge_layer
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

LIMITS = ArchiveLimits(members=2_000_000, total_bytes=64 * GIB, ratio=200.0)
_FIRST = 5
_SUFFIXES = 40
_NAME_BYTES = 200


class UploadOnTheWay(Exception):  # no failure: it is tried again
    """Another worker verifies the upload just now."""


def inspect(transfer: LabelTransfer, scratch: Path) -> dict[str, Any]:
    """Read the upload, keep its rows, and return what it holds and how it meets the branch.

    Raises UploadNotReady, UploadOnTheWay, EmptyCommit, LabelsPresent, ImportFailedError.
    """
    progress = TransferProgress(transfer)
    source = _downloaded(transfer, scratch)
    progress.report(0.1, at_once=True)
    version = _head(transfer)
    store = version_store(transfer.project)
    root = store.root(version.readable_root)
    known = VersionPictures(transfer.project, picture_table(root, store.store))
    incoming_rows = scratch / "rows.arrow"
    tree = open_labels(source, LIMITS, scratch)
    with tree.resources:
        matched = MatchedPictures(known.paths, known.size)
        incoming = IncomingLabels(
            tree, transfer.format, matched, _choices(transfer), known.orientation
        )
        pictures = progress.watched(incoming.pictures(), len(known.paths), 0.1, 0.8)
        write_sorted_rows(_rows(pictures, known), incoming_rows)
        report = incoming.summary().as_json()
    progress.report(0.85, at_once=True)
    existing = _existing(root, store.store, incoming_rows, scratch)
    _check_existing(transfer, existing)
    with incoming_rows.open("rb") as file:
        storage.objects().put(rows_key(transfer), file)
    transfer.version = version
    return {
        **report,
        "existing": len(existing),
        "existing_first": existing[:_FIRST].to_pylist(),
        "version_pictures": len(known.paths),
    }


def publish(transfer: LabelTransfer, scratch: Path) -> dict[str, Any]:
    """Make the rows part of the branch's next version; a version that is there is adopted.

    Raises LabelsPresent, HeadMoved and what `publish_layer` raises.
    """
    version = _made_before(transfer)
    if version is None:
        rows = mapped_rows(_fetched(rows_key(transfer), scratch / "rows.arrow"))
        layer = NamedLayer(objects.NAME, objects.KIND, rows, _merge(transfer))
        version = publish_layer(transfer.dataset, transfer.branch, layer, _details(transfer))
        reach("label_import.published")
    transfer.output_version = version
    is_new = version.provenance.get("label_transfer") == str(transfer.pk)
    return {"version": version.ref, "unchanged": not is_new}


def _made_before(transfer: LabelTransfer) -> Version | None:
    made = Version.objects.filter(
        dataset_id=transfer.dataset_id, provenance__label_transfer=str(transfer.pk)
    )
    return made.select_related("dataset").first()


def _details(transfer: LabelTransfer) -> CommitDetails:
    return CommitDetails(
        author=transfer.created_by,
        message=f"Labels of {transfer.filename}",
        # Fixed by the confirmation, so that a second try after a kill writes the same commit.
        created_at=transfer.confirmed_at or clock.now(),
        provenance={
            "label_transfer": str(transfer.pk),
            "format": transfer.report.get("read", {}).get("format", transfer.format),
            "existing": transfer.options.get("existing", ""),
            "filename": transfer.filename,
        },
    )


def _choices(transfer: LabelTransfer) -> ReadChoices:
    options = transfer.options
    return ReadChoices(options.get("yolo_task") or "", options.get("voc_origin"))


def _head(transfer: LabelTransfer) -> Version:
    branches = Branch.objects.select_related("head__dataset")
    branch = branches.filter(dataset=transfer.dataset, name=transfer.branch).first()
    if branch is None:
        raise RefNotFound(branch_unknown(transfer.dataset.name, transfer.branch))
    if branch.head is None:
        raise EmptyCommit(
            Sentence(
                "labeling.no_pictures_on_branch",
                "{branch} of {dataset} has no pictures yet.",
                branch=transfer.branch,
                dataset=transfer.dataset.name,
            )
        )
    return branch.head


def _downloaded(transfer: LabelTransfer, scratch: Path) -> Path:
    upload = transfer.upload
    if upload is not None and upload.state in {"uploaded", "verifying"}:
        upload = verify_upload(upload.pk)
        if upload.state in {"uploaded", "verifying"}:
            raise UploadOnTheWay
    if upload is None or upload.state != "verified":
        raise UploadNotReady
    folder = scratch / "source"
    folder.mkdir()
    try:
        return _fetched(upload.key, folder / _file_name(transfer.filename))
    except storage.ObjectMissing:
        # It waited for longer than staging keeps things, or somebody emptied staging.
        raise UploadNotReady(
            Sentence(
                "labeling.labels_cleared",
                "The server has cleared the file of labels {filename} before it was read.",
                filename=transfer.filename,
            )
        ) from None


def _file_name(filename: str) -> str:
    """Return the name under which a source is read: that of the person, whom errors tell of it."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    if name.isprintable() and 0 < len(name.encode()) <= _NAME_BYTES and name != "..":
        return name
    return f"labels{PurePosixPath(name).suffix.lower()[:_SUFFIXES]}"


def _fetched(key: str, path: Path) -> Path:
    with path.open("wb") as file:
        for chunk in storage.objects().views(key):
            file.write(chunk)
    return path


def _rows(pictures: Iterable[LabelledPicture], known: VersionPictures) -> Iterator[PictureRow]:
    for each in pictures:
        yield PictureRow(
            each.path,
            known.digest(each.path),
            each.document,
            source=each.source,
            source_model=each.source_model,
        )


def _existing(root: Root, store: ObjectStore, rows: Path, scratch: Path) -> pa.ChunkedArray:
    """Return the paths of the rows whose picture has a row in the version already."""
    layer = root.layer(objects.NAME)
    coming = mapped_rows(rows).select(KEY.names)
    found = [pa.chunked_array([], pa.string())]
    if layer is not None and layer.kind == objects.KIND:
        found += [_present(each, coming) for each in layer_pieces(layer, store, scratch, KEY)]
    return pa.chunked_array([chunk for each in found for chunk in each.chunks], pa.string())


def _present(before: pa.Table, coming: pa.Table) -> pa.ChunkedArray:
    """Return the paths of rows before that come again, of the same bytes."""
    row = pc.index_in(before["path"], value_set=coming["path"].combine_chunks())
    digests = coming["digest"].combine_chunks().take(row.combine_chunks())
    same = pc.fill_null(pc.equal(before["digest"].combine_chunks(), digests), False)
    return before["path"].filter(same)


def _check_existing(transfer: LabelTransfer, existing: pa.ChunkedArray) -> None:
    if transfer.options.get("existing") == REFUSE and len(existing):
        raise _labels_present(len(existing), existing[0].as_py())


def _labels_present(count: int, first: str) -> LabelsPresent:
    return LabelsPresent(
        Sentence(
            "labeling.labels_present",
            "Pictures that have objects already: {count}. The first is {path}.",
            count=count,
            path=first,
        )
    )


def _merge(transfer: LabelTransfer) -> MergeRows:
    existing = transfer.options.get("existing")
    if existing == ADD:
        return add_rows
    return _refuse if existing == REFUSE else merge_layer


def _refuse(before: pa.Table, coming: pa.Table) -> pa.Table:
    """Return the rows of both. Raises LabelsPresent where a picture has both."""
    present = _present(before.select(KEY.names), coming.select(KEY.names))
    if len(present):
        raise _labels_present(len(present), present[0].as_py())
    return merge_layer(before, coming)
