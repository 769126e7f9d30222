"""Label Studio JSON, written: `tasks.json`, and `config.xml` for the project that takes it.

`meta.atom` of a result holds what Label Studio has no field for: whether a box is a rotated one of
angle 0, ignore regions, ids of tracks, flags and numbers, and names of a skeleton's points.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from atom_sdk.annotations.geometry import Keypoints
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.ontology import Attribute, Ontology
from atom_sdk.label_formats.ability import Ability
from atom_sdk.label_formats.interface import MODEL, LabelledPicture, WriteChoices, Writing
from atom_sdk.label_formats.studio_shapes import point_value, value_of
from atom_sdk.label_formats.texts import xml_value
from atom_sdk.label_formats.values import picture_shape

_CONTROLS = {
    "box": "RectangleLabels",
    "rotated_box": "RectangleLabels",
    "keypoints": "RectangleLabels",
    "polygon": "PolygonLabels",
    "mask": "BrushLabels",
    "point": "KeyPointLabels",
    "polyline": "VectorLabels",
}
_PICTURE = "image"


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return what Label Studio holds of a picture."""
    return Ability(rings="mask", parts=False, media_shapes=False)


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write tasks.json and config.xml."""
    skeletons = {
        label.name: [str(name) for name in label.skeleton.points]
        for label in writing.ontology.labels
        if label.skeleton is not None
    }
    writing.folder.mkdir(parents=True, exist_ok=True)
    with (writing.folder / "tasks.json").open("w", encoding="utf-8", newline="\n") as out:
        out.write("[")
        for number, picture in enumerate(pictures, 1):
            out.write("\n" if number == 1 else ",\n")
            task = _task(number, picture, skeletons)
            out.write(json.dumps(task, ensure_ascii=False, allow_nan=False))
        out.write("\n]\n")
    config = "\n".join(_config(writing.ontology))
    (writing.folder / "config.xml").write_text(f"{config}\n", encoding="utf-8")


def _task(
    number: int, picture: LabelledPicture, skeletons: Mapping[str, list[str]]
) -> dict[str, Any]:
    document = picture.document
    results = [row for each in document.objects for row in _region(each, document, skeletons)]
    results += _whole(document)
    for relation in document.relations:
        ends = {"from_id": relation.subject, "to_id": relation.object}
        row = {"type": "relation", "id": relation.id, **ends, "direction": "right"}
        results.append({**row, "labels": [relation.name]})
    data: dict[str, Any] = {_PICTURE: picture.path}
    # A task without a region has nowhere else to say its size.
    data |= {"original_width": document.width, "original_height": document.height}
    if picture.split:
        data["split"] = picture.split
    task: dict[str, Any] = {"id": number, "data": data, "annotations": [], "predictions": []}
    if picture.source == MODEL:
        task["predictions"].append({"model_version": picture.source_model, "result": results})
    else:
        made = {"id": number, "was_cancelled": False, "ground_truth": False}
        task["annotations"].append({**made, "result": results})
    return task


def _region(
    each: NamedObject, document: NamedDocument, skeletons: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    size = document.width, document.height
    kind, value, marks = value_of(picture_shape(each), size)
    marks |= _marks(each)
    points = _point_names(each, skeletons)
    if points:
        marks["points"] = points
    shared = {"id": each.id, "to_name": _PICTURE, **_sizes(size)}
    name = f"{kind}labels"
    yield {
        **shared,
        "from_name": kind,
        "type": name,
        "value": {**value, name: [each.label]},
        **({"meta": {"atom": marks}} if marks else {}),
    }
    for key, v in each.attributes.items():
        if _is_choice(v):
            choices = list(v) if isinstance(v, tuple) else [v]
            row = {"from_name": key, "type": "choices", "value": {**value, "choices": choices}}
            yield {**shared, **row}
    if each.text is not None:
        row = {"from_name": "transcription", "type": "textarea"}
        yield {**shared, **row, "value": {**value, "text": [each.text]}}
    if isinstance(each.geometry, Keypoints):
        yield from _points(each, each.geometry, points, size)


def _marks(each: NamedObject) -> dict[str, Any]:
    """Values that Label Studio has no field for."""
    marks: dict[str, Any] = {"ignore": True} if each.ignore else {}
    if each.track:
        marks["track"] = each.track
    own = {key: value for key, value in each.attributes.items() if not _is_choice(value)}
    return {**marks, "attributes": own} if own else marks


def _point_names(each: NamedObject, skeletons: Mapping[str, list[str]]) -> list[str]:
    """Names of keypoints, numbers for those that the skeleton does not name."""
    if not isinstance(each.geometry, Keypoints):
        return []
    known, count = skeletons.get(each.label, []), len(each.geometry.points)
    return [*known, *(f"point {n}" for n in range(len(known) + 1, count + 1))][:count]


def _is_choice(value: Any) -> bool:
    """Whether a control of choices says the value: a list of fewer than two would be none."""
    return isinstance(value, str) or (isinstance(value, list | tuple) and len(value) > 1)


def _points(
    each: NamedObject, shape: Keypoints, names: list[str], size: tuple[int, int]
) -> Iterator[dict[str, Any]]:
    for number, (name, (x, y, v)) in enumerate(zip(names, shape.points, strict=True)):
        if v:
            value = {**point_value(x, y, size), "keypointlabels": [name]}
            yield {
                "id": f"{each.id}-{number}",
                "parentID": each.id,
                "from_name": "keypoint",
                "to_name": _PICTURE,
                "type": "keypointlabels",
                "value": value,
                **_sizes(size),
                **({"meta": {"atom": {"hidden": True}}} if v == 1 else {}),
            }


def _sizes(size: tuple[int, int]) -> dict[str, Any]:
    return {"original_width": size[0], "original_height": size[1], "image_rotation": 0}


def _whole(document: NamedDocument) -> Iterator[dict[str, Any]]:
    """Classes and attributes of the whole picture."""
    shared = {"to_name": _PICTURE}
    if document.labels:
        row = {"id": "classes", "from_name": "class", "type": "choices"}
        yield {**shared, **row, "value": {"choices": list(document.labels)}}
    for key, value in document.attributes.items():
        own = {"id": f"picture-{key}", "from_name": key, **shared}
        marked: dict[str, Any] = {**own, "meta": {"atom": {"attribute": True}}}
        if isinstance(value, bool) or not isinstance(value, int | float):
            choices = list(value) if isinstance(value, list | tuple) else [value]
            yield {**marked, "type": "choices", "value": {"choices": choices}}
        else:
            yield {**marked, "type": "number", "value": {"number": value}}


def _config(ontology: Ontology) -> Iterator[str]:
    """The labelling interface of a project that takes the tasks."""
    yield "<View>"
    yield f'  <Image name="{_PICTURE}" value="${_PICTURE}"/>'
    controls = _labels(ontology)
    for control, names in controls.items():
        name = control.removesuffix("Labels").lower()
        yield f'  <{control} name="{name}" toName="{_PICTURE}">'
        yield from (f"    <Label value={xml_value(each)}/>" for each in names)
        yield f"  </{control}>"
    whole = [label.name for label in ontology.labels if "classification" in label.tools]
    if whole:
        yield from _choices("class", whole, "")
    for attribute in {a.name: a for label in ontology.labels for a in label.attributes}.values():
        yield from _control(attribute)
    yield f'  <TextArea name="transcription" toName="{_PICTURE}" perRegion="true"/>'
    yield "</View>"


def _labels(ontology: Ontology) -> dict[str, dict[str, None]]:
    """The names of classes and skeleton points by the control that draws them."""
    controls: dict[str, dict[str, None]] = {}
    for label in ontology.labels:
        for kind in label.tools:
            if kind in _CONTROLS:
                controls.setdefault(_CONTROLS[kind], {})[label.name] = None
        if label.skeleton is not None:
            points = controls.setdefault("KeyPointLabels", {})
            points |= dict.fromkeys(str(point) for point in label.skeleton.points)
    return controls


def _control(attribute: Attribute) -> Iterator[str]:
    if attribute.kind == "choice":
        names = [choice.name for choice in attribute.choices]
        many = ' choice="multiple"' if attribute.multiple else ""
        yield from _choices(attribute.name, names, f' perRegion="true"{many}')


def _choices(name: str, names: Iterable[str], more: str) -> Iterator[str]:
    yield f'  <Choices name={xml_value(name)} toName="{_PICTURE}"{more}>'
    yield from (f"    <Choice value={xml_value(each)}/>" for each in names)
    yield "  </Choices>"
