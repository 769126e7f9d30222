"""Ontologies: classes, their attributes and skeletons, and the kinds of relations.

Ids never change their meaning between the versions of one ontology. A child inherits the attributes
of its parents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from atom_sdk.annotations.problems import Problem

CLASSIFICATION = "classification"
ATTRIBUTE_KINDS = ("choice", "number", "text", "flag")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of an attribute of the kind "choice"."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """An attribute applies while another (by id) has one of these values: choice ids or flags."""

    attribute: int
    values: tuple[int | bool, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the ontology."""
        return {"attribute": self.attribute, "is": list(self.values)}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A question about an object or a picture. `default` is what an editor fills in."""

    id: int
    name: str
    kind: str
    required: bool = False
    default: Any = None
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    min: float | None = None
    max: float | None = None
    step: float | None = None
    pattern: str | None = None
    max_length: int | None = None
    per_frame: bool = False
    when: Condition | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all fields of the ontology."""
        value: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        value["choices"] = [asdict(choice) for choice in self.choices]
        value["default"] = list(self.default) if isinstance(self.default, tuple) else self.default
        value["when"] = self.when.as_json() if self.when else None
        return value


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Names of points, edges between them, pairs that change places in a mirror, COCO's sigmas."""

    points: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()
    flips: tuple[tuple[int, int], ...] = ()
    sigmas: tuple[float, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all fields of the ontology."""
        return {
            "points": [{"name": name} for name in self.points],
            "edges": [list(edge) for edge in self.edges],
            "flips": [list(pair) for pair in self.flips],
            "sigmas": None if self.sigmas is None else list(self.sigmas),
        }


@dataclass(frozen=True, slots=True)
class Label:
    """One class; `tools` are kinds of shapes, or "classification" of the whole picture."""

    id: int
    name: str
    color: str = ""
    hotkey: str = ""
    parent: int | None = None
    tools: tuple[str, ...] = (CLASSIFICATION,)
    attributes: tuple[Attribute, ...] = ()
    skeleton: Skeleton | None = None
    ignore: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return all fields of the ontology."""
        return {
            "id": self.id,
            "name": self.name,
            "color": self.color,
            "hotkey": self.hotkey,
            "parent": self.parent,
            "tools": list(self.tools),
            "attributes": [attribute.as_json() for attribute in self.attributes],
            "skeleton": None if self.skeleton is None else self.skeleton.as_json(),
            "ignore": self.ignore,
        }


@dataclass(frozen=True, slots=True)
class RelationKind:
    """A kind of relation; `subjects` and `objects` are the labels that it may join, None all."""

    id: int
    name: str
    subjects: tuple[int, ...] | None = None
    objects: tuple[int, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all fields of the ontology."""
        return {
            "id": self.id,
            "name": self.name,
            "from": None if self.subjects is None else list(self.subjects),
            "to": None if self.objects is None else list(self.objects),
        }


@dataclass(frozen=True)
class Ontology:
    """Labels, and `attributes` of the whole picture; `multiple`: several classes for a picture."""

    labels: tuple[Label, ...] = ()
    multiple: bool = False
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[RelationKind, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return `{"labels": […], "schema": {…}}` with all fields."""
        schema = {
            "multiple": self.multiple,
            "attributes": [attribute.as_json() for attribute in self.attributes],
            "relations": [kind.as_json() for kind in self.relations],
        }
        return {"labels": [label.as_json() for label in self.labels], "schema": schema}

    @property
    def problems(self) -> list[Problem]:
        """All faults of the ontology; empty when it is fine."""
        from atom_sdk.annotations.ontology_checks import problems_of_ontology

        return problems_of_ontology(self)

    @cached_property
    def label_of(self) -> Mapping[int, Label]:
        """Labels by id."""
        return {label.id: label for label in self.labels}

    @cached_property
    def label_named(self) -> Mapping[str, Label]:
        """Labels by name."""
        return {label.name: label for label in self.labels}

    @cached_property
    def relation_of(self) -> Mapping[int, RelationKind]:
        """Kinds of relations by id."""
        return {kind.id: kind for kind in self.relations}

    @cached_property
    def relation_named(self) -> Mapping[str, RelationKind]:
        """Kinds of relations by name."""
        return {kind.name: kind for kind in self.relations}

    @cached_property
    def _inherited(self) -> Mapping[int, tuple[Attribute, ...]]:
        return {
            label.id: tuple(
                attribute
                for ancestor in reversed(list(self.lineage(label.id)))
                for attribute in ancestor.attributes
            )
            for label in self.labels
        }

    def lineage(self, label_id: int) -> Iterator[Label]:
        """Yield a label, then its parents, the nearest first; a circle is gone through once."""
        seen: set[int] = set()
        label = self.label_of.get(label_id)
        while label is not None and label.id not in seen:
            seen.add(label.id)
            yield label
            label = None if label.parent is None else self.label_of.get(label.parent)

    def attributes_of(self, label_id: int) -> tuple[Attribute, ...]:
        """Return the attributes of a label's objects, those of its first ancestor first."""
        return self._inherited.get(label_id, ())


def applying(attributes: Sequence[Attribute], values: Mapping[int, Any]) -> list[Attribute]:
    """Return the attributes whose conditions hold for these values.

    A condition holds only while the attribute that it names applies itself.
    """
    by_id = {attribute.id: attribute for attribute in attributes}
    return [it for it in attributes if it.when is None or _applies(it, by_id, values)]


def _applies(
    attribute: Attribute | None, by_id: Mapping[int, Attribute], values: Mapping[int, Any]
) -> bool:
    for _ in by_id:
        if attribute is None or attribute.when is None:
            break
        value = values.get(attribute.when.attribute)
        chosen = value if isinstance(value, tuple | list) else (value,)
        if not any(_same(it, wish) for it in chosen for wish in attribute.when.values):
            return False
        attribute = by_id.get(attribute.when.attribute)
    # The chain of conditions ended, or goes in a circle, in which nothing applies.
    return attribute is not None and attribute.when is None


def _same(value: Any, wish: int | bool) -> bool:
    # True is 1 in Python, and the choice with the id 1 is no flag.
    return type(value) is type(wish) and bool(value == wish)
