"""Shapes of video and text: tracks of keyframes, segments of frames, spans of characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from atom_sdk.annotations.attributes import AttributeValue, attributes_as_json, read_attributes
from atom_sdk.annotations.json_values import (
    as_flag,
    as_integer,
    as_list,
    as_mapping,
    as_text,
    check_fields,
    read_all,
    shown,
)
from atom_sdk.annotations.json_values import field as required
from atom_sdk.annotations.problems import refusal
from atom_sdk.annotations.shapes import (
    NOWHERE,
    READERS,
    Bounds,
    PictureGeometry,
    picture_geometry,
)
from atom_sdk.sentences import Sentence

_FRAME_FIELDS = frozenset({"frame", "outside", "occluded", "kind", "attributes"})


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A shape at a frame; `outside` ends the track until the next keyframe."""

    frame: int
    geometry: PictureGeometry
    outside: bool = False
    occluded: bool = False
    attributes: Mapping[int, AttributeValue] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document; defaults are left out."""
        value: dict[str, Any] = {"frame": self.frame, **self.geometry.as_json()}
        if self.outside:
            value["outside"] = True
        if self.occluded:
            value["occluded"] = True
        if self.attributes:
            value["attributes"] = attributes_as_json(self.attributes)
        return value


@dataclass(frozen=True, slots=True)
class Track:
    """One object through frames."""

    keyframes: tuple[Keyframe, ...]

    kind: ClassVar[str] = "track"
    area: ClassVar[float] = 0.0

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height around all keyframes that are not outside."""
        boxes = [it.geometry.bounds for it in self.keyframes if not it.outside]
        if not boxes:
            return NOWHERE
        left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
        right, bottom = max(b[0] + b[2] for b in boxes), max(b[1] + b[3] for b in boxes)
        return left, top, right - left, bottom - top

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {"kind": self.kind, "keyframes": [it.as_json() for it in self.keyframes]}


@dataclass(frozen=True, slots=True)
class Segment:
    """Frames from `first` up to, not including, `end`."""

    first: int
    end: int

    kind: ClassVar[str] = "segment"
    bounds: ClassVar[Bounds] = NOWHERE
    area: ClassVar[float] = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {"kind": self.kind, "range": [self.first, self.end]}


@dataclass(frozen=True, slots=True)
class Span:
    """Code points from `start` up to, not including, `end`, of a part of a document."""

    start: int
    end: int
    part: str = ""

    kind: ClassVar[str] = "span"
    bounds: ClassVar[Bounds] = NOWHERE
    area: ClassVar[float] = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document; an empty part is left out."""
        value: dict[str, Any] = {"kind": self.kind, "range": [self.start, self.end]}
        return value | ({"part": self.part} if self.part else {})


Geometry = PictureGeometry | Track | Segment | Span
KIND_FIELDS: dict[str, frozenset[str]] = {
    **{kind: fields for kind, (fields, _) in READERS.items()},
    "track": frozenset({"keyframes"}),
    "segment": frozenset({"range"}),
    "span": frozenset({"range", "part"}),
}


def geometry_from_json(value: Any) -> Geometry:
    """Return the shape of `{"kind": …, …}`; other fields are left alone. Raises DocumentError."""
    fields = as_mapping(value, "")
    kind = as_text(required(fields, "kind"), "kind")
    if kind == "track":
        frames = as_list(required(fields, "keyframes"), "keyframes")
        return Track(tuple(read_all(frames, "keyframes", _read_keyframe)))
    if kind == "segment":
        return Segment(*_read_range(fields))
    if kind == "span":
        return Span(*_read_range(fields), as_text(fields.get("part", ""), "part"))
    if kind not in KIND_FIELDS:
        raise refusal(
            "kind",
            Sentence(
                "annotations.kind_unknown",
                "There is no kind {value}. Kinds: {kinds}.",
                value=shown(kind),
                kinds=", ".join(KIND_FIELDS),
            ),
        )
    return picture_geometry(fields, kind)


def _read_keyframe(value: Any) -> Keyframe:
    fields = as_mapping(value, "")
    kind = as_text(required(fields, "kind"), "kind")
    geometry = picture_geometry(fields, kind)
    check_fields(fields, _FRAME_FIELDS | READERS[kind][0])
    return Keyframe(
        as_integer(required(fields, "frame"), "frame"),
        geometry,
        as_flag(fields.get("outside", False), "outside"),
        as_flag(fields.get("occluded", False), "occluded"),
        read_attributes(fields.get("attributes", {})),
    )


def _read_range(fields: Mapping[str, Any]) -> tuple[int, int]:
    values = as_list(required(fields, "range"), "range")
    if len(values) != 2:
        raise refusal(
            "range", Sentence("annotations.range_not_two_numbers", "A range is [first, end).")
        )
    first, end = (as_integer(number, "range") for number in values)
    return first, end
