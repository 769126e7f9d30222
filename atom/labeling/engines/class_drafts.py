"""An ontology to start with, of the classes that a version's objects show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atom.labeling.engines.ontologies import (
    MAX_LABELS,
    PALETTE,
    complete_labels,
    full_label,
    full_schema,
)
from atom_sdk.label_formats.ontology_notes import DEFAULT_COLORS, LabelNote
from atom_sdk.label_formats.seen_classes import SeenClasses

Labels = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ClassDraft:
    """Labels and schema as a new task takes them, and objects by class, the most first."""

    labels: list[dict[str, Any]]
    schema: dict[str, Any]
    counts: list[dict[str, Any]]
    pictures: int
    complete: bool


def draft_of(seen: SeenClasses, declared: Sequence[Labels]) -> ClassDraft:
    """Return the draft of classes that were seen.

    `declared` are labels of the ontologies behind them, the newest first: colours, parents, names
    of skeleton points and limits of attributes come from there.
    """
    known = _by_name(declared)
    notes = seen.notes
    for name in list(notes.labels):
        _add_parents(name, known, notes.labels)
    by_count = sorted(notes.labels, key=lambda name: (-seen.objects[name], name))
    order = by_count[:MAX_LABELS]
    notes.labels = {name: notes.labels[name] for name in order}
    for index, (name, note) in enumerate(notes.labels.items()):
        _describe(note, known.get(name, {}), PALETTE[index % len(PALETTE)])
    whole = notes.as_ontology().as_json()
    labels = [_with_limits(label, known.get(label["name"], {})) for label in whole["labels"]]
    return ClassDraft(
        [full_label(label.as_json()) for label in complete_labels(labels)],
        full_schema(whole["schema"]),
        [{"name": name, "objects": seen.objects[name]} for name in order],
        seen.pictures,
        seen.is_complete and order == by_count,
    )


def _by_name(declared: Sequence[Labels]) -> dict[str, dict[str, Any]]:
    """Return the newest declaration of each name, with `parent_name` in place of an id."""
    known: dict[str, dict[str, Any]] = {}
    for labels in declared:
        names = {label["id"]: label["name"] for label in labels}
        for label in labels:
            full = {**full_label(label), "parent_name": names.get(label.get("parent"), "")}
            known.setdefault(label["name"], full)
    return known


def _add_parents(
    name: str, known: Mapping[str, Mapping[str, Any]], labels: dict[str, LabelNote]
) -> None:
    """Add the declared ancestors of a class: no object needs to show them."""
    while (parent := known.get(name, {}).get("parent_name")) and parent not in labels:
        labels[parent] = LabelNote(kinds=dict.fromkeys(known[parent]["tools"]))
        name = parent


def _describe(note: LabelNote, label: Mapping[str, Any], color: str) -> None:
    declared = label.get("color")
    # The default colours of imports are no choice of a person, and fit fewer eyes.
    note.color = color if declared in {None, "", *DEFAULT_COLORS} else str(declared)
    note.parent = str(label.get("parent_name") or "")
    skeleton = label.get("skeleton")
    # Objects of another number of points do not fit the declared skeleton.
    if skeleton and len(note.points) in {0, len(skeleton["points"])}:
        note.points = [point["name"] for point in skeleton["points"]]
        note.edges, note.flips = skeleton["edges"], skeleton["flips"]


def _with_limits(label: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    declared = {each["name"]: each for each in known.get("attributes", [])}
    skeleton = label["skeleton"]
    if skeleton and (known.get("skeleton") or {}).get("points") == skeleton["points"]:
        skeleton = {**skeleton, "sigmas": known["skeleton"]["sigmas"]}
    return {
        **label,
        "ignore": known.get("ignore", False),
        "skeleton": skeleton,
        "attributes": [
            _attribute(each, declared.get(each["name"], {})) for each in label["attributes"]
        ],
    }


def _attribute(seen: dict[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attribute with the declared limits, and choices that were declared or seen.

    A condition names ids of its own ontology, so it is left out; so is what it makes required.
    """
    kind = declared.get("kind")
    if kind != seen["kind"] and (kind, seen["kind"]) != ("text", "choice"):
        return seen
    names = [choice["name"] for choice in declared["choices"]]
    if kind == "choice":
        names += [each["name"] for each in seen["choices"] if each["name"] not in names]
    limits = ("min", "max", "step", "pattern", "max_length", "per_frame")
    return {
        **seen,
        **{name: declared[name] for name in limits},
        "kind": kind,
        "choices": [{"id": number, "name": name} for number, name in enumerate(names, 1)],
        "multiple": kind == "choice" and (declared["multiple"] or seen["multiple"]),
        "required": declared["required"] and declared["when"] is None,
    }
