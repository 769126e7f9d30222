"""A picture while its objects are read: the kept ones, the lost ones, and the item of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.objects import (
    BOXES,
    COUNTS,
    NOTHING,
    AnnotatedObject,
    ObjectRefusedError,
    as_attributes,
)
from atom_sdk.importers.report import Report

_TOO_LARGE = "its objects do not fit into 16 KiB of attributes: only "


@dataclass
class ObjectList:
    """Objects of one picture, and the reasons of those that cannot be read."""

    objects: list[AnnotatedObject] = field(default_factory=list)
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    """Subject, reason, label."""
    shapes: list[tuple[str, AnnotatedObject]] = field(default_factory=list)

    def read(self, subject: str, label: str, build: Callable[[], AnnotatedObject]) -> None:
        """Keep what `build` returns, or the reason why there is no object."""
        try:
            built = build()
        except ObjectRefusedError as refused:
            self.refuse(subject, str(refused), label)
            return
        self.objects.append(built)
        if built.left_out:
            self.shapes.append((subject, built))

    def refuse(self, subject: str, reason: str, label: str = "") -> None:
        """Remember an object that cannot be read; "" is a class that is not known."""
        self.refused.append((subject, reason, label))

    def counts(self) -> Counter[str]:
        """Return all objects of the source by class, lost ones included."""
        kept = Counter(one.label for one in self.objects)
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
        unit: str,
        report: Report,
        split: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Item:
        """Return the picture with its objects, and report those that are lost."""
        for subject, reason, label in self.refused:
            report.lose_objects(subject, reason, label)
        for subject, one in self.shapes:
            for shape in one.left_out:
                report.leave_out_shapes(subject, shape.kind, shape.reason, shape.count)
        attributes, extent = as_attributes(self.objects, unit)
        kept = self._kept(path, attributes, extent, report)
        if self.refused and not kept:
            report.empty_picture(path)
        return Item(path, blob, None, split, {**attributes, **(more or {})}, kept)

    def _kept(
        self, path: str, attributes: Mapping[str, Any], extent: str, report: Report
    ) -> Mapping[str, int]:
        """The objects by class that the attributes hold."""
        if extent == BOXES:
            count = sum(len(one.polygons) for one in self.objects)
            report.leave_out_shapes(path, "polygon", f"{_TOO_LARGE}{extent}", count)
        if extent not in (COUNTS, NOTHING):
            counts: Mapping[str, int] = attributes["object_counts"]
            return counts
        for label, count in Counter(one.label for one in self.objects).items():
            report.lose_objects(path, f"{_TOO_LARGE}{extent}", label, count)
        if not self.refused:
            report.empty_picture(path)
        return {}
