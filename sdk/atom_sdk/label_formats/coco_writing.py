"""COCO files: one for each split, `annotations/instances_<split>.json`.

Fields beside COCO's own: `atom_id` is the id of an object; `attributes` are as CVAT writes them;
`utf8_string` is a transcription, as in COCO-Text; `atom` of an image has its classes and
attributes; `atom_box` is false where the box of keypoints is only the one around them.
"""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.ontology import Label, Ontology
from atom_sdk.label_formats.ability import Ability, as_itself
from atom_sdk.label_formats.coco_shapes import fields_of
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices, Writing
from atom_sdk.label_formats.values import picture_shape

DEFAULT = "default"
# Larger integers are not exact where numbers are doubles.
_MAX_ID = 1 << 53


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return what COCO holds."""
    return Ability(
        kinds=as_itself("box", "polygon", "mask", "keypoints", rotated_box="polygon"),
        rings="mask",
        relations=False,
        tracks=False,
        media_shapes=False,
    )


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write a file for each split."""
    files: dict[str, _File] = {}
    folder = writing.folder / "annotations"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for picture in pictures:
            split = picture.split or DEFAULT
            if split not in files:
                files[split] = _File(folder / f"instances_{split}.json", writing.ontology, stack)
            files[split].add(picture)
        if not files:
            path = folder / f"instances_{DEFAULT}.json"
            files[DEFAULT] = _File(path, writing.ontology, stack)
        for file in files.values():
            file.close()


class _File:
    """One file: images go to it at once, annotations wait in a file beside it."""

    def __init__(self, path: Path, ontology: Ontology, stack: ExitStack) -> None:
        out = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
        self._out = out
        self._categories = {label.name: label for label in ontology.labels}
        self._annotations = stack.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115
        )
        self._ids = array("q")
        self._images = 0
        head = {"description": "Labels of Atom", "version": "1.0"}
        parents = {label.id: label.name for label in ontology.labels}
        rows = [_category(label, parents) for label in ontology.labels]
        out.write(f'{{"info": {_json(head)}, "licenses": [], "categories": {_json(rows)},\n')
        out.write('"images": [')

    def add(self, picture: LabelledPicture) -> None:
        """Write an image and its annotations."""
        self._out.write(",\n" if self._images else "\n")
        self._images += 1
        document = picture.document
        image = {
            "id": self._images,
            "file_name": picture.path,
            "width": document.width,
            "height": document.height,
        }
        self._out.write(_json(image | _extra(document)))
        for each in document.objects:
            number = int(each.id, 16)
            self._ids.append(number if 0 < number < _MAX_ID else 0)
            self._annotations.write(f"{_json(self._annotation(each))[1:]}\n")

    def _annotation(self, each: NamedObject) -> dict[str, Any]:
        row: dict[str, Any] = {
            "image_id": self._images,
            "category_id": self._categories[each.label].id,
            "iscrowd": int(each.ignore),
            **fields_of(picture_shape(each)),
            "atom_id": each.id,
        }
        if each.attributes:
            row["attributes"] = dict(each.attributes)
        if each.text is not None:
            row["utf8_string"] = each.text
        return row

    def close(self) -> None:
        """Write the annotations behind the images, and the end."""
        self._out.write('\n],\n"annotations": [')
        numbers = np.frombuffer(self._ids, np.int64) if self._ids else np.empty(0, np.int64)
        own, times = np.unique(numbers[numbers > 0], return_counts=True)
        twice = {int(number) for number in own[times > 1]}
        fresh = int(own[-1]) if len(own) else 0
        self._annotations.seek(0)
        for place, line in enumerate(self._annotations):
            number = self._ids[place]
            if number == 0 or number in twice:
                fresh += 1
                number = fresh
            self._out.write(f'{"," if place else ""}\n{{"id": {number}, {line.rstrip()}')
        self._out.write("\n]}\n")


def _extra(document: NamedDocument) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if document.labels:
        extra["labels"] = list(document.labels)
    if document.attributes:
        extra["attributes"] = dict(document.attributes)
    return {"atom": extra} if extra else {}


def _category(label: Label, parents: dict[int, str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": label.id,
        "name": label.name,
        "supercategory": parents.get(label.parent, "") if label.parent is not None else "",
    }
    if label.skeleton is not None:
        row["keypoints"] = [str(name) for name in label.skeleton.points]
        row["skeleton"] = [[edge[0] + 1, edge[1] + 1] for edge in label.skeleton.edges]
    return row


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
