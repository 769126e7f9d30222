"""Atom's own JSON lines: `labels.jsonl`, the ontology first, then a picture a line, then an end.

Nothing is lost. The last line counts the pictures, so that a file that was cut off is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from atom_sdk.annotations.ontology import Ontology, ontology_from_json
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.sentences import line_not_json
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.ability import EVERYTHING, Ability
from atom_sdk.label_formats.interface import (
    HUMAN,
    IMPORT,
    MODEL,
    LabelledPicture,
    Reading,
    WriteChoices,
    Writing,
)
from atom_sdk.label_formats.named_json import document_from_json, document_json
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.sentences import Sentence

FORMAT, VERSION = "atom-labels", 1
_MARK = f'{{"format": "{FORMAT}"'
_MAX_LINE_BYTES = 64 << 20


def detect(tree: Tree) -> str | None:
    """Say why the tree is Atom's, None if it is not."""
    files = annotation_files(tree)
    return f"{files[0]} begins as labels of Atom" if files else None


def annotation_files(tree: Tree) -> list[str]:
    """Return the files that begin as Atom's do."""
    files = []
    for path in tree.with_suffix(".jsonl"):
        with tree.files[path].open() as stream:
            if stream.read(len(_MARK)).decode("utf-8", "replace") == _MARK:
                files.append(path)
    return files


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError."""
    taken: set[str] = set()
    for path in annotation_files(tree):
        with tree.files[path].open() as stream:
            for subject, row in _rows(stream, path, reading):
                picture = _picture(row, reading, subject, taken)
                if picture is not None:
                    yield picture


def _rows(stream: IO[bytes], path: str, reading: Reading) -> Iterator[tuple[str, Any]]:
    count, end = 0, None
    for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_BYTES), b""), 1):
        if end is not None:
            raise AnnotationsUnreadableError(_goes_on(path, number))
        row = _parsed(line, path, number)
        if number == 1:
            _take_head(row, path, reading)
        elif isinstance(row, dict) and "end" in row:
            end = row["end"]
        else:
            count += 1
            yield f"{path}, line {number}", row
    if end != count:
        raise AnnotationsUnreadableError(_cut_off(path, count))


def _parsed(line: bytes, path: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise AnnotationsUnreadableError(line_not_json(path, number, error)) from error


def _goes_on(path: str, number: int) -> Sentence:
    return Sentence(
        "formats.lines_follow",
        "{path}: lines follow its end, from line {line} on.",
        path=path,
        line=number,
    )


def _cut_off(path: str, count: int) -> Sentence:
    return Sentence(
        "formats.lines_cut_off",
        "{path} was cut off after {count} pictures.",
        path=path,
        count=count,
    )


def _take_head(row: Any, path: str, reading: Reading) -> None:
    version = row.get("version") if isinstance(row, dict) else None
    if version != VERSION:
        raise AnnotationsUnreadableError(
            Sentence(
                "formats.lines_version",
                "{path} has version {version!r}, not {known}.",
                path=path,
                version=version,
                known=VERSION,
            )
        )
    ontology = row.get("ontology")
    if not isinstance(ontology, dict):
        raise AnnotationsUnreadableError(
            Sentence("formats.ontology_missing", "{path} has no ontology.", path=path)
        )
    try:
        known = ontology_from_json(ontology.get("labels"), ontology.get("schema"))
    except DocumentError as error:
        reason = Sentence(
            "formats.ontology_wrong",
            "{path}: its ontology is wrong: {problem}",
            path=path,
            problem=str(error),
        )
        raise AnnotationsUnreadableError(reason) from error
    reading.notes.declare(known)


def _picture(row: Any, reading: Reading, subject: str, taken: set[str]) -> LabelledPicture | None:
    report = reading.report
    if not isinstance(row, dict) or not isinstance(row.get("path"), str):
        report.count("record_wrong", subject)
        return None
    path = resolve(reading.places, row["path"], report, subject)
    if path is None:
        return None
    if path in taken:
        report.count("picture_twice", subject)
        return None
    try:
        document = document_from_json(row.get("document"))
    except DocumentError:
        report.count("record_wrong", subject)
        return None
    taken.add(path)
    split, model = row.get("split"), row.get("source_model")
    source = row.get("source")
    return LabelledPicture(
        path,
        document,
        split if isinstance(split, str) else None,
        source if source in (HUMAN, IMPORT, MODEL) else IMPORT,
        model if isinstance(model, str) else None,
    )


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return that all is held."""
    return EVERYTHING


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write labels.jsonl."""
    writing.folder.mkdir(parents=True, exist_ok=True)
    with (writing.folder / "labels.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        head = {"version": VERSION, "ontology": writing.ontology.as_json()}
        out.write(f"{_MARK}, {json.dumps(head, ensure_ascii=False, allow_nan=False)[1:]}\n")
        count = 0
        for picture in pictures:
            count += 1
            row = json.dumps(_row(picture), ensure_ascii=False, allow_nan=False)
            out.write(f"{row}\n")
        out.write(f'{{"end": {count}}}\n')


def _row(picture: LabelledPicture) -> dict[str, Any]:
    row: dict[str, Any] = {"path": picture.path, "document": document_json(picture.document)}
    if picture.split is not None:
        row["split"] = picture.split
    row["source"] = picture.source
    if picture.source_model is not None:
        row["source_model"] = picture.source_model
    return row
