"""Imports of labels from this machine: read and matched here, sent as one file, published there.

A folder of the cache keeps the rows and the key of the request until the version is there. So an
import that was killed goes on from where it was, and never makes two versions.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from atom_sdk.client.config import cache_path
from atom_sdk.client.datasets import Datasets
from atom_sdk.client.errors import ApiError, ClientError
from atom_sdk.client.progress import Progress, Silent
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.client.transport.polling import pauses
from atom_sdk.client.transport.upload import UploadTarget, upload_file, wait_verified

if TYPE_CHECKING:
    from atom_sdk.importers.trees import Tree

_ROWS, _STATE, _UPLOAD = "labels.parquet", "import.json", "upload"
# The server's code for an upload that was cleared, or never arrived.
_GONE = "labels_not_uploaded"
_ENDED = frozenset({"done", "failed", "cancelled"})


class LabelImportFailedError(ClientError):
    """The server refused an import of labels, or somebody cancelled it."""

    code = "label_import_failed"
    hint = "Correct the labels that are named, and import again."


@dataclass(frozen=True)
class ImportOrder:
    """An import as a person asks for it: `existing` is replace, add or refuse."""

    dataset: str
    source: Path
    format: str = "auto"
    branch: str = "main"
    existing: str = "replace"
    yolo_task: str = ""
    voc_origin: int | None = None

    @property
    def key(self) -> str:
        """A name for the same import of the same files."""
        source = self.source.resolve()
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        choices = (self.dataset, self.format, self.branch, self.existing)
        parts = [*choices, self.yolo_task, self.voc_origin, stats]
        return blake3(json.dumps(parts).encode()).hexdigest()[:32]


class LabelImports:
    """Imports into the datasets of one project."""

    def __init__(self, http: Http, project: str, datasets: Datasets) -> None:
        self._http = http
        self._project = project
        self._datasets = datasets

    def look(self, order: ImportOrder) -> dict[str, Any]:
        """Return what an import would bring, and send nothing.

        Raises ApiError, ImportFailedError, OSError.
        """
        with TemporaryDirectory(dir=_cache(), prefix="labels-") as scratch:
            return self._read(order, Path(scratch))

    def bring(
        self,
        order: ImportOrder,
        *,
        resume: bool = False,
        progress: Progress | None = None,
        show: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Make the labels part of the branch's next version; return the transfer as it ended.

        With `resume` an import of the same files that was cut off goes on. `show` gets the report
        of what was read before anything is sent. Raises ApiError, ImportFailedError,
        LabelImportFailedError, UploadRejectedError, OSError.
        """
        folder = _cache() / "label-imports" / blake3(self._scope.encode()).hexdigest()[:8]
        folder /= order.key
        state = _saved(folder) if resume else None
        if state is None:
            state = self._prepare(order, folder)
        show(state["report"])
        done = self._carried(order, folder, state["key"], progress or Silent())
        if done is None:
            # The rows are here still, so they go another way. Another key: it is another request.
            (folder / _UPLOAD).unlink(missing_ok=True)
            state = _kept(folder, {**state, "key": uuid.uuid4().hex})
            done = self._carried(order, folder, state["key"], progress or Silent())
        if done is None:
            raise LabelImportFailedError("The server lost the file of labels twice.")
        shutil.rmtree(folder, ignore_errors=True)
        if done["state"] != "done":
            reason = (done["error"] or {}).get("detail") or "Somebody cancelled it."
            raise LabelImportFailedError(str(reason))
        return {**done, "read": state["report"]}

    @property
    def _scope(self) -> str:
        return f"{self._http.config.url} {self._project}"

    def _prepare(self, order: ImportOrder, folder: Path) -> dict[str, Any]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        report = self._read(order, folder)
        # Last: a state stands for rows that are whole.
        return _kept(folder, {"key": uuid.uuid4().hex, "report": report})

    def _read(self, order: ImportOrder, folder: Path) -> dict[str, Any]:
        """Write the labels that match into the folder, and return what they are."""
        from atom_sdk.client.version_pictures import VersionPictures
        from atom_sdk.label_formats.formats import write
        from atom_sdk.label_formats.incoming import IncomingLabels
        from atom_sdk.label_formats.interface import ReadChoices
        from atom_sdk.label_formats.known_pictures import MatchedPictures, picture_table

        base = self._datasets.version_base(f"{order.dataset}@{order.branch}")
        manifest = RemoteManifest(self._http, base)
        table = picture_table(manifest.root, manifest)
        choices = ReadChoices(order.yolo_task, order.voc_origin)
        with (
            _opened(order.source) as tree,
            closing(VersionPictures(self._http.config, manifest.base, table, tree)) as known,
        ):

            def incoming() -> IncomingLabels:
                matched = MatchedPictures(known.paths, known.size)
                return IncomingLabels(tree, order.format, matched, choices, known.orientation)

            # Twice: the file of rows begins with the ontology that all of them show.
            first = incoming()
            for _ in first.pictures():
                pass
            summary = first.summary()
            write(incoming().pictures(), "atom-parquet", folder, summary.ontology)
        return {**summary.as_json(), "version": manifest.version["ref"]}

    def _carried(
        self, order: ImportOrder, folder: Path, key: str, progress: Progress
    ) -> dict[str, Any] | None:
        """Return the transfer as it ended; None if the server has no longer what was sent."""
        try:
            done = self._followed(self._sent(order, folder / _ROWS, key, progress))
        except ApiError as error:
            if error.code == _GONE or "upload" in error.errors:
                return None
            raise
        is_gone = done["state"] == "failed" and (done["error"] or {}).get("code") == _GONE
        return None if is_gone else done

    def _sent(self, order: ImportOrder, rows: Path, key: str, progress: Progress) -> dict[str, Any]:
        base = f"projects/{self._project}/datasets/{order.dataset}/"
        target = UploadTarget(self._http, base, progress)
        # The same request again must name the same upload.
        sent_before = rows.with_name(_UPLOAD)
        if sent_before.is_file():
            upload = sent_before.read_text("utf-8")
        else:
            upload = upload_file(target, rows, "labels", _digest(rows))
            wait_verified(target, upload)
            sent_before.write_text(upload, "utf-8")
        body = {
            "dataset": order.dataset,
            "branch": order.branch,
            "upload": upload,
            "filename": rows.name,
            "format": "atom-parquet",
            "existing": order.existing,
            "confirmed": True,
        }
        sent = self._http.post(f"projects/{self._project}/labelx/imports/", body, key)
        return dict(sent)

    def _followed(self, transfer: dict[str, Any]) -> dict[str, Any]:
        waits = pauses()
        while transfer["state"] not in _ENDED:
            time.sleep(next(waits))
            transfer = dict(self._http.get(f"labelx/transfers/{transfer['id']}/"))
        return transfer


def _cache() -> Path:
    cache_path().mkdir(parents=True, exist_ok=True)
    return cache_path()


def _saved(folder: Path) -> dict[str, Any] | None:
    try:
        state = json.loads((folder / _STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return dict(state) if (folder / _ROWS).is_file() else None


def _kept(folder: Path, state: dict[str, Any]) -> dict[str, Any]:
    """Write a state, whole or not at all, and return it."""
    partial = folder / f".{_STATE}"
    partial.write_text(json.dumps(state), "utf-8")
    partial.rename(folder / _STATE)
    return state


def _digest(path: Path) -> str:
    hasher = blake3()
    hasher.update_mmap(path)
    return hasher.hexdigest()


@contextmanager
def _opened(source: Path) -> Iterator[Tree]:
    from atom_sdk.importers.limits import ArchiveLimits
    from atom_sdk.label_formats.label_sources import open_labels

    with TemporaryDirectory(dir=_cache(), prefix="labels-") as scratch:
        tree = open_labels(source, ArchiveLimits(), Path(scratch))
        with tree.resources:
            yield tree
