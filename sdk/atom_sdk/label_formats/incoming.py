"""Labels of a source on their way into a dataset version: matched, checked and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from atom_sdk.annotations.checking import MAX_OBJECTS, MAX_SIDE_PX
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.annotations.shape_checks import problems_of_shape
from atom_sdk.annotations.turning import SIDEWAYS, turned_document
from atom_sdk.importers.errors import ImportFailedError
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.formats import LabelSource
from atom_sdk.label_formats.interface import LabelledPicture, ReadChoices
from atom_sdk.label_formats.known_pictures import MatchedPictures
from atom_sdk.label_formats.picture_sizes import Size
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.sentences import Sentence

_MOST_TEXT = 500


class NoPictureMatchedError(ImportFailedError):
    """The labels are about no picture of the version."""

    code = "labels_match_no_picture"
    hint = "Compare the names in the labels with the paths of the version's pictures."


class NoPictureTakenError(ImportFailedError):
    """The labels are about pictures of the version, and none of them can be taken."""

    code = "labels_take_no_picture"
    hint = "Correct the labels, or give a folder that has their pictures too."


@dataclass(frozen=True)
class IncomingSummary:
    """Facts about a whole source, once it is read."""

    format: str
    why: str
    report: LabelReport
    matches: dict[str, Any]
    ontology: Ontology

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "read": self.report.as_json(),
            "matches": self.matches,
            "classes": dict(self.report.classes.most_common()),
            "ontology": self.ontology.as_json(),
        }


class IncomingLabels:
    """Labels of a tree about the pictures of a version."""

    def __init__(
        self,
        tree: Tree,
        name: str,
        pictures: MatchedPictures,
        choices: ReadChoices,
        orientation: Callable[[str], int] = lambda _: 1,
    ) -> None:
        """`orientation` tells how EXIF turns the picture at a path. Raises FormatUnknownError."""
        self._pictures = pictures
        self._orientation = orientation
        self._source = LabelSource(tree, name, pictures, choices)
        # The source counts all that it reads; this counts what can be taken.
        self.report = LabelReport(self._source.report.format, self._source.report.why)

    def pictures(self) -> Iterator[LabelledPicture]:
        """Yield the pictures once, without objects that a version refuses.

        Raises ImportFailedError; NoPictureMatchedError or NoPictureTakenError at the end, when
        there was none.
        """
        for picture in self._source.pictures():
            fitting = self._fitting(self._upright(picture))
            checked = fitting and self._checked(fitting)
            if checked is not None:
                self.report.tally(checked.document)
                yield checked
        for code, count in self._source.report.counts.items():
            self.report.counts[code] += count
        for code, subjects in self._source.report.subjects.items():
            self.report.subjects.setdefault(code, subjects)
        if not self.report.pictures:
            raise self._nothing()

    def summary(self) -> IncomingSummary:
        """Return counts, matches and the ontology, whole once the pictures are read."""
        matches, ontology = self._pictures.as_json(), self._source.ontology()
        return IncomingSummary(self.report.format, self.report.why, self.report, matches, ontology)

    def _nothing(self) -> ImportFailedError:
        reasons = self.report.lost()
        if self._pictures.has_matched and reasons:
            return NoPictureTakenError(
                Sentence(
                    "formats.no_picture_taken",
                    "No picture of the labels can be taken. {reason}.",
                    reason=reasons[0],
                )
            )
        return NoPictureMatchedError(
            Sentence(
                "formats.no_picture_matched", "The labels are about no picture of this version."
            )
        )

    def _upright(self, picture: LabelledPicture) -> LabelledPicture:
        """Return labels of the picture as people see it.

        A tool that ignores EXIF writes the width and height of the stored picture, and places in
        it. Only of sides that differ can one see that they are exchanged.
        """
        document = picture.document
        sides = document.width, document.height
        if sides[0] == sides[1] or not self._is_stored_size(picture.path, sides):
            return picture
        self.report.count("turned_upright", picture.path)
        turned = turned_document(document, self._orientation(picture.path))
        return replace(picture, document=turned)

    def _is_stored_size(self, path: str, sides: Size) -> bool:
        is_sideways = self._orientation(path) in SIDEWAYS
        return is_sideways and self._pictures.size(path) == (sides[1], sides[0])

    def _fitting(self, picture: LabelledPicture) -> LabelledPicture | None:
        """Return labels with the sides of their picture; None for objects about other sides.

        Objects are never scaled: the difference may as well mean another picture of that name.
        """
        document, size = picture.document, self._pictures.size(picture.path)
        sides = document.width, document.height
        if size is None or sides == size:
            return picture
        if document.objects:
            first = f"{picture.path} ({sides[0]}×{sides[1]} ≠ {size[0]}×{size[1]})"
            self.report.count("sides_differ", first)
            return None
        return replace(picture, document=replace(document, width=size[0], height=size[1]))

    def _checked(self, picture: LabelledPicture) -> LabelledPicture | None:
        document, path = picture.document, picture.path
        if not 0 < document.width <= MAX_SIDE_PX or not 0 < document.height <= MAX_SIDE_PX:
            self.report.count("size_unknown", path)
            return None
        kept: list[NamedObject] = []
        seen: set[str] = set()
        for each in document.objects:
            if len(kept) == MAX_OBJECTS:
                self.report.count("too_many_objects", path, len(document.objects) - MAX_OBJECTS)
                break
            if each.id in seen or not 0 < len(each.label) <= _MOST_TEXT:
                self.report.count("record_wrong", path)
            elif problems_of_shape(each.geometry, document.width, document.height):
                self.report.count("shape_wrong", path)
            else:
                seen.add(each.id)
                kept.append(each)
        if len(kept) == len(document.objects):
            return picture
        return replace(picture, document=_with_objects(document, kept, seen))


def _with_objects(document: NamedDocument, objects: list[Any], ids: set[str]) -> NamedDocument:
    relations = tuple(it for it in document.relations if {it.subject, it.object} <= ids)
    return replace(document, objects=tuple(objects), relations=relations)
