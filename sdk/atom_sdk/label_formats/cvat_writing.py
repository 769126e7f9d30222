"""CVAT for images 1.1, written: `annotations.xml`.

An ignore region has the checkbox `ignore`; the attribute `occluded` is CVAT's own mark. Numbers
are written in full, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
    RotatedBox,
)
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.annotations.ontology import Attribute, Label, Ontology
from atom_sdk.label_formats.ability import Ability
from atom_sdk.label_formats.bit_runs import write_rows
from atom_sdk.label_formats.cvat_reading import IGNORE
from atom_sdk.label_formats.cvat_shapes import OCCLUDED
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices, Writing
from atom_sdk.label_formats.texts import text_of, xml_text, xml_value
from atom_sdk.label_formats.values import picture_shape

_TYPES = {"choice": "select", "flag": "checkbox", "number": "number", "text": "text"}


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return what CVAT holds."""
    return Ability(
        rings="mask",
        parts=False,
        keypoint_boxes=False,
        picture_attributes=False,
        lists=False,
        relations=False,
        texts=False,
        tracks=False,
        ids=False,
        media_shapes=False,
    )


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write annotations.xml."""
    skeletons = {
        label.name: [str(name) for name in label.skeleton.points]
        for label in writing.ontology.labels
        if label.skeleton is not None
    }
    writing.folder.mkdir(parents=True, exist_ok=True)
    path = writing.folder / "annotations.xml"
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n')
        out.write("  <version>1.1</version>\n  <meta>\n    <task>\n      <labels>\n")
        for label in writing.ontology.labels:
            out.writelines(f"        {line}\n" for line in _label(label, writing.ontology))
        out.write("      </labels>\n    </task>\n  </meta>\n")
        for number, picture in enumerate(pictures):
            out.writelines(f"  {line}\n" for line in _image(number, picture, skeletons))
        out.write("</annotations>\n")


def _label(label: Label, ontology: Ontology) -> Iterator[str]:
    kind = "skeleton" if label.skeleton is not None else "any"
    yield "<label>"
    yield f"  <name>{xml_text(label.name)}</name><color>{xml_text(label.color)}</color>"
    yield f"  <type>{kind}</type>"
    yield "  <attributes>"
    for attribute in ontology.attributes_of(label.id):
        # CVAT has a mark of its own for this one.
        if not (attribute.name == OCCLUDED and attribute.kind == "flag"):
            yield f"    {_attribute(attribute)}"
    yield f"    {_declared(IGNORE, 'checkbox', 'false', ['false'])}"
    yield "  </attributes>"
    yield "</label>"
    for point in label.skeleton.points if label.skeleton is not None else ():
        yield "<label>"
        yield f"  <name>{xml_text(str(point))}</name><type>points</type>"
        yield f"  <attributes></attributes><parent>{xml_text(label.name)}</parent>"
        yield "</label>"


def _attribute(attribute: Attribute) -> str:
    kind = _TYPES[attribute.kind]
    choices = [choice.name for choice in attribute.choices]
    if attribute.kind == "flag":
        return _declared(attribute.name, kind, "false", ["false"])
    if attribute.kind == "number":
        low, high, step = attribute.min, attribute.max, attribute.step
        limits = (-1_000_000 if low is None else low, 1_000_000 if high is None else high)
        return _declared(attribute.name, kind, "", [*map(str, limits), str(step or 1)])
    if attribute.multiple:
        return _declared(attribute.name, "text", "", [])
    return _declared(attribute.name, kind, "", choices)


def _declared(name: str, kind: str, default: str, choices: list[str]) -> str:
    lines = xml_text("\n".join(choices))
    return (
        f"<attribute><name>{xml_text(name)}</name><mutable>False</mutable>"
        f"<input_type>{kind}</input_type><default_value>{default}</default_value>"
        f"<values>{lines}</values></attribute>"
    )


def _image(number: int, picture: LabelledPicture, skeletons: dict[str, list[str]]) -> Iterator[str]:
    document = picture.document
    subset = f" subset={xml_value(picture.split)}" if picture.split else ""
    yield (
        f'<image id="{number}" name={xml_value(picture.path)}{subset} '
        f'width="{document.width}" height="{document.height}">'
    )
    for label in document.labels:
        yield f'  <tag label={xml_value(label)} source="manual"></tag>'
    for place, each in enumerate(document.objects):
        yield from (f"  {line}" for line in _object(each, place, skeletons))
    yield "</image>"


def _object(each: NamedObject, place: int, skeletons: dict[str, list[str]]) -> Iterator[str]:
    attributes: dict[str, Any] = dict(each.attributes)
    shape = picture_shape(each)
    # A skeleton has no mark of its own, its points have.
    is_marked = attributes.get(OCCLUDED) is True and not isinstance(shape, Keypoints)
    if is_marked:
        del attributes[OCCLUDED]
    group = attributes.get("group_id")
    if type(group) is int and group > 0:
        del attributes["group_id"]
    else:
        group = None
    if each.ignore:
        attributes[IGNORE] = True
    name = _NAMES[shape.kind]
    head = f'<{name} label={xml_value(each.label)} source="manual"'
    if not isinstance(shape, Keypoints):
        head += f' occluded="{int(is_marked)}"'
    if group is not None:
        head += f' group_id="{group}"'
    yield f'{head}{_geometry(shape)} z_order="{place}">'
    if isinstance(shape, Keypoints):
        yield from _points(shape, skeletons.get(each.label, []))
    for key, value in attributes.items():
        yield f"  <attribute name={xml_value(key)}>{xml_text(text_of(value))}</attribute>"
    yield f"</{name}>"


def _points(shape: Keypoints, names: list[str]) -> Iterator[str]:
    for number, (x, y, v) in enumerate(shape.points):
        name = names[number] if number < len(names) else f"point {number + 1}"
        yield (
            f'  <points label={xml_value(name)} source="manual" outside="{int(not v)}" '
            f'occluded="{int(v == 1)}" points="{_pairs((x, y))}"></points>'
        )


def _geometry(shape: PictureGeometry) -> str:
    if isinstance(shape, Box):
        return _sides(shape)
    if isinstance(shape, RotatedBox):
        left, top = shape.cx - shape.width / 2, shape.cy - shape.height / 2
        box = Box(left, top, shape.width, shape.height)
        return f'{_sides(box)} rotation="{shape.angle!r}"'
    if isinstance(shape, Polygon):
        return f' points="{_pairs(shape.parts[0][0])}"'
    if isinstance(shape, Polyline):
        return f' points="{_pairs(shape.points)}"'
    if isinstance(shape, Point):
        return f' points="{_pairs((shape.x, shape.y))}"'
    if isinstance(shape, Mask):
        return _mask(shape)
    return ""


def _sides(box: Box) -> str:
    right, bottom = box.x + box.width, box.y + box.height
    return f' xtl="{box.x!r}" ytl="{box.y!r}" xbr="{right!r}" ybr="{bottom!r}"'


def _mask(mask: Mask) -> str:
    left, top, width, height = map(int, mask.bounds)
    whole = rle.decode(mask.counts, mask.height, mask.width)
    counts = write_rows(whole[top : top + height, left : left + width])
    text = ", ".join(map(str, counts))
    return f' rle="{text}" left="{left}" top="{top}" width="{width}" height="{height}"'


def _pairs(flat: Iterable[float]) -> str:
    numbers = [repr(float(number)) for number in flat]
    pairs = zip(numbers[0::2], numbers[1::2], strict=True)
    return ";".join(f"{x},{y}" for x, y in pairs)


_NAMES = {
    "box": "box",
    "rotated_box": "box",
    "polygon": "polygon",
    "polyline": "polyline",
    "point": "points",
    "keypoints": "skeleton",
    "mask": "mask",
}
