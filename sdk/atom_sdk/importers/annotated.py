"""A picture while its objects are read: the kept ones, the lost ones, and the item of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atom_sdk.annotations.checking import MAX_DOCUMENT_BYTES, MAX_OBJECTS
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.objects import (
    PIXEL,
    ObjectRefusedError,
    TableObject,
    checked_shape,
    document_text,
    picture_size,
)
from atom_sdk.importers.report import Report
from atom_sdk.label_formats import values
from atom_sdk.label_formats.losses import CHANGED
from atom_sdk.label_formats.picture_sizes import Size
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError

_NO_SIZE = "the width and height of its picture are unknown"
_TOO_MANY = f"a picture has at most {MAX_OBJECTS:,} objects"
_TOO_LARGE = "the objects of its picture have more than 4 MiB"
_LEFT_OUT = {"outlines_left_out": "outline", "value_wrong": "attribute"}


@dataclass
class ObjectList:
    """Objects of one picture, and the reasons of those that cannot be read.

    `size` is its width and height, where a reader knows it. `changes` counts what is kept in
    another form.
    """

    size: Size | None = None
    objects: list[NamedObject] = field(default_factory=list)
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    """Subject, reason, label."""
    changes: LabelReport = field(default_factory=lambda: LabelReport(""))
    _left_out: list[tuple[str, str, str, int]] = field(default_factory=list)
    _boxes: list[tuple[str, TableObject]] = field(default_factory=list)

    def read(self, subject: str, label: str, build: Callable[[], NamedObject]) -> None:
        """Keep what `build` returns, or the reason why there is no object."""
        before = len(self._left_out)
        try:
            if self.size is None:
                raise ObjectRefusedError(_NO_SIZE)
            self.objects.append(checked_shape(build(), self.size))
        except (ObjectRefusedError, ValueRefusedError) as refused:
            # Parts that were left out are the reason why there is no shape.
            parts = [reason for _, _, reason, _ in self._left_out[before:] if reason]
            del self._left_out[before:]
            own = refused.reason if isinstance(refused, ValueRefusedError) else str(refused)
            self.refuse(subject, (parts or [own])[0], label)

    def read_box(self, subject: str, label: str, build: Callable[[], TableObject]) -> None:
        """Keep an object of a table, whose unit is known once all of them are read."""
        try:
            built = build()
        except ObjectRefusedError as refused:
            self.refuse(subject, str(refused), label)
            return
        self._boxes.append((subject, built))
        if built.left_out:
            self.leave_out(subject, "polygon", built.left_out)

    @property
    def boxes(self) -> list[TableObject]:
        """Objects of a table that are read."""
        return [box for _, box in self._boxes]

    def refuse(self, subject: str, reason: str, label: str = "") -> None:
        """Remember an object that cannot be read; "" is a class that is not known."""
        self.refused.append((subject, reason, label))

    def leave_out(self, subject: str, kind: str, reason: str, count: int = 1) -> None:
        """Remember a part of an object that is left out, while the object stays."""
        self._left_out.append((subject, kind, reason, count))

    def counts(self) -> Counter[str]:
        """Return all objects of the source by class, lost ones included."""
        kept = Counter(one.label for one in self.objects)
        kept += Counter(one.label for one in self.boxes)
        return kept + Counter(label for _, _, label in self.refused)

    def lose_with_picture(self, subject: str, reason: str, report: Report) -> None:
        """Report that the picture is left out with all of them."""
        report.lose_picture(subject, reason, self.counts())

    def lose(self, subject: str, reason: str, report: Report) -> None:
        """Report that they are lost, and that the picture stays with other objects."""
        for label, count in self.counts().items():
            report.lose_objects(subject, reason, label, count)

    def orphan(self, subject: str, reason: str, report: Report) -> None:
        """Report that the source has no picture for them."""
        counts = self.counts()
        if not counts:
            report.skip(subject, reason)
        for label, count in counts.items():
            report.lose_objects(subject, reason, label, count, orphaned=True)

    def item(
        self,
        path: str,
        blob: Blob,
        report: Report,
        split: str | None = None,
        more: Mapping[str, Any] | None = None,
        unit: str = PIXEL,
    ) -> Item:
        """Return the picture with its objects, and report those that are lost."""
        if self.size is None:
            self.size = picture_size(blob, more)
        self._name_boxes(path, unit)
        document = self._document(path, report)
        self._report_losses(path, report)
        kept = Counter(one.label for one in self.objects)
        return Item(path, blob, None, split, more or {}, kept, document)

    def _name_boxes(self, path: str, unit: str) -> None:
        size = self.size or (0, 0)
        for number, (subject, box) in enumerate(self._boxes, 1):
            own = values.object_id(None, path, number)
            build = partial(box.named, own, size, unit, self.changes, subject)
            self.read(subject, box.label, build)
        self._boxes = []

    def _document(self, path: str, report: Report) -> str | None:
        """The document that holds the objects; those that it cannot hold are refused."""
        if self.size is None:
            if not self.refused:
                report.skip(path, f"{_NO_SIZE}; it goes without objects")
            return None
        for one in self.objects[MAX_OBJECTS:]:
            self.refuse(path, _TOO_MANY, one.label)
        del self.objects[MAX_OBJECTS:]
        text = document_text(self.objects, self.size)
        if len(text.encode()) > MAX_DOCUMENT_BYTES:
            for one in self.objects:
                self.refuse(path, _TOO_LARGE, one.label)
            self.objects = []
        # A picture that lost all of its objects is none on which there is nothing.
        return None if self.refused and not self.objects else text

    def _report_losses(self, path: str, report: Report) -> None:
        for subject, reason, label in self.refused:
            report.lose_objects(subject, reason, label)
        for subject, kind, reason, count in self._left_out:
            report.leave_out_shapes(subject, kind, reason, count)
        for code, count in self.changes.counts.items():
            if code in CHANGED:
                report.changes[code] += count
            else:
                subject = next(iter(self.changes.subjects.get(code, [])), path)
                report.leave_out_shapes(subject, _LEFT_OUT[code], count=count)
        if self.refused and not self.objects:
            report.empty_picture(path)
