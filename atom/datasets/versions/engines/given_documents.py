"""Documents that come with pictures, of an import or a writer: checked, and as rows of a layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from atom.core.foreign_json import read_json
from atom_sdk.annotations.checking import MAX_DOCUMENT_BYTES, MAX_OBJECTS, MAX_SIDE_PX
from atom_sdk.annotations.layer import PictureRow, row_batches
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.annotations.shape_checks import problems_of_shape
from atom_sdk.label_formats.named_json import document_from_json
from atom_sdk.manifests.layers.layers import is_label
from atom_sdk.manifests.layers.object_rows import OBJECTS_SCHEMA

IMPORT = "import"
_NO_CLASS = "a class has 1 to 255 bytes of plain text."


def document_fault(text: str) -> str:
    """Return why a document cannot be kept, "" if it can."""
    if len(text.encode()) > MAX_DOCUMENT_BYTES:
        return f"It has more than {MAX_DOCUMENT_BYTES} bytes."
    try:
        document = document_from_json(read_json(text))
    except DocumentError as error:
        first = error.problems[0]
        return f"{first.pointer}: {first.sentence}" if first.pointer else str(first.sentence)
    except ValueError:
        return "It is not JSON."
    return next(_faults(document), "")


def given_object_rows(puts: Iterable[pa.Table], documents: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield the rows of the layer of pictures that are put, in path order."""
    for batch in row_batches(_picture_rows(puts, documents)):
        yield pa.Table.from_batches([batch], OBJECTS_SCHEMA)


def _picture_rows(puts: Iterable[pa.Table], documents: Mapping[str, str]) -> Iterator[PictureRow]:
    for table in puts:
        paths, digests = table["path"].to_pylist(), table["digest"].to_pylist()
        for path, digest in zip(paths, digests, strict=True):
            if (text := documents.get(path)) is not None:
                document = document_from_json(read_json(text))
                yield PictureRow(path, digest, document, source=IMPORT)


def _faults(document: NamedDocument) -> Iterator[str]:
    size = document.width, document.height
    if not all(0 < side <= MAX_SIDE_PX for side in size):
        yield f"width, height: {size[0]} x {size[1]} pixels are no size of a picture."
    if len(document.objects) > MAX_OBJECTS:
        yield f"objects: there are {len(document.objects)}; at most {MAX_OBJECTS} are kept."
    if not all(map(is_label, document.labels)):
        yield f"labels: {_NO_CLASS}"
    for number, one in enumerate(document.objects):
        if not is_label(one.label):
            yield f"objects/{number}/label: {_NO_CLASS}"
        for problem in problems_of_shape(one.geometry, *size):
            yield f"objects/{number}/{problem.pointer}: {problem.sentence}"
    yield from _faults_of_ids(document)


def _faults_of_ids(document: NamedDocument) -> Iterator[str]:
    ids = {one.id for one in document.objects}
    if len(ids) < len(document.objects):
        yield "objects: two of them have the same id."
    for number, relation in enumerate(document.relations):
        if not {relation.subject, relation.object} <= ids:
            yield f"relations/{number}: one of its objects is not in the document."
