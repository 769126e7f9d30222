"""Labels of a dataset version: its layer `objects`, with splits, in flat memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.errors import AtomError
from atom_sdk.label_formats.interface import LabelledPicture
from atom_sdk.label_formats.ontology_notes import OntologyNotes
from atom_sdk.manifests.joined import SPLIT_LAYER
from atom_sdk.manifests.layers.object_rows import OBJECTS_LAYER
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence


class NoObjectsError(AtomError):
    """A version has no layer with objects."""

    code = "version_has_no_objects"
    hint = "Publish a label task on its pictures first, or name a version that has objects."


class VersionLabels:
    """The labelled pictures of a root; objects of its layers are kept in `scratch` meanwhile."""

    def __init__(self, root: Root, store: ObjectStore, scratch: Path) -> None:
        """Raises NoObjectsError."""
        layer = root.layer(OBJECTS_LAYER)
        if layer is None:
            raise NoObjectsError(
                Sentence("formats.no_objects", "This version has no objects on its pictures.")
            )
        self._layer, self._root, self._store, self._scratch = layer, root, store, scratch

    def pictures(self) -> Iterator[LabelledPicture]:
        """Yield the pictures by path, each time from the first one."""
        splits = _Splits(self._splits())
        for table in layer_pieces(self._layer, self._store, self._scratch):
            names = ("path", "source", "source_model")
            columns = [table.column(name).to_pylist() for name in names]
            rows = zip(*columns, documents_of(table), strict=True)
            for path, source, model, document in rows:
                yield LabelledPicture(path, document, splits.of(path), source, model)

    def ontology(self) -> Ontology:
        """Return the classes and attributes that the objects show; this reads all of them."""
        notes = OntologyNotes()
        for picture in self.pictures():
            notes.show(picture.document)
        return notes.as_ontology()

    def _splits(self) -> Iterator[tuple[str, str]]:
        layer = self._root.layer(SPLIT_LAYER)
        if layer is None:
            return
        for table in layer_pieces(layer, self._store, self._scratch):
            yield from zip(table["path"].to_pylist(), table["value"].to_pylist(), strict=True)


class _Splits:
    """Splits in the order of paths, asked for in the same order."""

    def __init__(self, rows: Iterator[tuple[str, str]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, path: str) -> str | None:
        """Return the split of a path, None without one."""
        key = path.encode()
        while self._next is not None and self._next[0].encode() < key:
            self._next = next(self._rows, None)
        if self._next is not None and self._next[0] == path:
            return self._next[1]
        return None
