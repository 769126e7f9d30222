"""Atom's layer of objects as one Parquet file: `labels.parquet`, with splits and the ontology.

Nothing of a picture is lost. Each row's `content` is checked, so that a damaged file is known.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.annotations.layer import PictureRow, documents_of, objects_schema, row_batches
from atom_sdk.annotations.ontology import Ontology, ontology_from_json
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.sentences import not_readable
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.ability import Ability
from atom_sdk.label_formats.interface import (
    HUMAN,
    IMPORT,
    MODEL,
    LabelledPicture,
    Reading,
    WriteChoices,
    Writing,
)
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.manifests.layers.object_rows import CONTENT, row_contents
from atom_sdk.sentences import Sentence

_KEY, _SPLIT = b"atom.ontology", pa.field("split", pa.string())
_ROWS = 1024
# The file says nothing of the bytes of pictures.
_NO_DIGEST = bytes(32)
_BROKEN = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError)


def detect(tree: Tree) -> str | None:
    """Say why the tree is Atom's, None if it is not."""
    files = annotation_files(tree)
    return f"{files[0]} has the ontology of a layer of Atom" if files else None


def annotation_files(tree: Tree) -> list[str]:
    """Return the Parquet files whose metadata have an ontology."""
    files = []
    for path in tree.with_suffix(".parquet"):
        try:
            with tree.files[path].open() as stream:
                if _KEY in (pq.read_schema(stream).metadata or {}):
                    files.append(path)
        except _BROKEN:
            continue
    return files


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError."""
    taken: set[str] = set()
    for path in annotation_files(tree):
        try:
            with tree.files[path].open() as stream:
                file = pq.ParquetFile(stream)
                reading.notes.declare(_ontology(file.schema_arrow.metadata))
                for batch in file.iter_batches(_ROWS):
                    yield from _pictures(pa.Table.from_batches([batch]), path, reading, taken)
        except (DocumentError, *_BROKEN) as error:
            raise AnnotationsUnreadableError(not_readable(path, error)) from error


def _ontology(metadata: Any) -> Ontology:
    value = json.loads(metadata[_KEY])
    return ontology_from_json(value.get("labels"), value.get("schema"))


def _pictures(
    table: pa.Table, path: str, reading: Reading, taken: set[str]
) -> Iterator[LabelledPicture]:
    contents, stored = row_contents(table), table[CONTENT].combine_chunks()
    if not contents.equals(stored):
        wrong = max(pc.index(pc.not_equal(contents, stored), True).as_py(), 0)
        raise ValueError(
            Sentence(
                "formats.row_digest_wrong",
                "the content of the row {name} is not what its digest says",
                name=table["path"][wrong].as_py(),
            )
        )
    names = ("path", "split", "source", "source_model")
    columns = [table.column(name).to_pylist() for name in names]
    for name, split, source, model, document in zip(*columns, documents_of(table), strict=True):
        subject = f"{path}: {name}"
        picture = resolve(reading.places, name, reading.report, subject)
        if picture is None:
            continue
        if picture in taken:
            reading.report.count("picture_twice", subject)
            continue
        taken.add(picture)
        origin = source if source in (HUMAN, IMPORT, MODEL) else IMPORT
        yield LabelledPicture(picture, document, split, origin, model)


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return that all of a picture is held."""
    return Ability(media_shapes=False)


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write labels.parquet."""
    text = json.dumps(writing.ontology.as_json(), ensure_ascii=False)
    schema = _schema().with_metadata({_KEY: text})
    splits: deque[str | None] = deque()
    writing.folder.mkdir(parents=True, exist_ok=True)
    path = writing.folder / "labels.parquet"
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        for batch in row_batches(_rows(pictures, splits)):
            column = pa.array([splits.popleft() for _ in range(len(batch))], pa.string())
            table = pa.Table.from_batches([batch]).append_column(_SPLIT, column)
            out.write_table(table.select(schema.names).replace_schema_metadata(schema.metadata))


def _schema() -> pa.Schema:
    layer = objects_schema()
    return layer.remove(layer.get_field_index("digest")).append(_SPLIT)


def _rows(pictures: Iterable[LabelledPicture], splits: deque[str | None]) -> Iterator[PictureRow]:
    for each in pictures:
        splits.append(each.split)
        yield PictureRow(
            each.path,
            _NO_DIGEST,
            each.document,
            source=each.source,
            source_model=each.source_model,
        )
