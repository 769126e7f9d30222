"""Documents with names in place of ids: what layers hold, and what codecs read and write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atom_sdk.annotations.documents import AnnotatedObject, Document, Relation
from atom_sdk.annotations.ontology_model import Attribute, Ontology, applying
from atom_sdk.annotations.problems import DocumentError, Problem
from atom_sdk.annotations.tracks import Geometry
from atom_sdk.sentences import Sentence

# A choice's name, several of them, a number, a text or a flag.
NamedValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedObject:
    """One object; `label` and the keys and choices of `attributes` are names."""

    id: str
    label: str
    geometry: Geometry
    attributes: Mapping[str, NamedValue] = field(default_factory=dict)
    ignore: bool = False
    text: str | None = None
    track: str | None = None


@dataclass(frozen=True, slots=True)
class NamedRelation:
    """A relation of the kind `name` from one object to another, by their ids."""

    id: str
    name: str
    subject: str
    object: str


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """All that is in a picture of `width` × `height` pixels; the last object is on top."""

    width: int
    height: int
    labels: tuple[str, ...] = ()
    attributes: Mapping[str, NamedValue] = field(default_factory=dict)
    objects: tuple[NamedObject, ...] = ()
    relations: tuple[NamedRelation, ...] = ()


def to_named(document: Document, ontology: Ontology) -> NamedDocument:
    """Return the document by names. Values of attributes that do not apply are left out.

    Raises DocumentError for ids that the ontology does not have.
    """
    resolver = _Resolver()
    label = resolver.take(lambda it: ontology.label_of[it].name, "label")
    relation = resolver.take(lambda it: ontology.relation_of[it].name, "relation")
    named = NamedDocument(
        document.width,
        document.height,
        tuple(label(it, f"labels/{index}") for index, it in enumerate(document.labels)),
        resolver.names(document.attributes, ontology.attributes, "attributes"),
        tuple(
            NamedObject(
                it.id,
                label(it.label, f"objects/{index}/label"),
                it.geometry,
                resolver.names(
                    it.attributes, ontology.attributes_of(it.label), f"objects/{index}/attributes"
                ),
                it.ignore,
                it.text,
                it.track,
            )
            for index, it in enumerate(document.objects)
        ),
        tuple(
            NamedRelation(
                it.id, relation(it.relation, f"relations/{index}/relation"), it.subject, it.object
            )
            for index, it in enumerate(document.relations)
        ),
    )
    resolver.check()
    return named


def to_document(named: NamedDocument, ontology: Ontology) -> Document:
    """Return the document by ids. Raises DocumentError for names that the ontology has not."""
    resolver = _Resolver()
    label = resolver.take(lambda it: ontology.label_named[it].id, "label")
    relation = resolver.take(lambda it: ontology.relation_named[it].id, "relation")
    objects = []
    for index, it in enumerate(named.objects):
        pointer = f"objects/{index}"
        label_id = label(it.label, f"{pointer}/label")
        scope = ontology.attributes_of(label_id) if label_id is not None else ()
        attributes = resolver.ids(it.attributes, scope, f"{pointer}/attributes")
        rest = it.ignore, it.text, it.track
        objects.append(AnnotatedObject(it.id, label_id, it.geometry, attributes, *rest))
    document = Document(
        named.width,
        named.height,
        tuple(label(it, f"labels/{index}") for index, it in enumerate(named.labels)),
        resolver.ids(named.attributes, ontology.attributes, "attributes"),
        tuple(objects),
        tuple(
            Relation(it.id, relation(it.name, f"relations/{index}"), it.subject, it.object)
            for index, it in enumerate(named.relations)
        ),
    )
    resolver.check()
    return document


def named_attributes(
    values: Mapping[int, Any], attributes: Sequence[Attribute]
) -> dict[str, NamedValue]:
    """Return the values that apply, by names. Raises KeyError for an unknown id."""
    if not values:
        return {}
    by_id = {attribute.id: attribute for attribute in attributes}
    for number in values:
        by_id[number]
    return {
        it.name: _choice_names(it, values[it.id])
        for it in applying(attributes, values)
        if it.id in values
    }


def _choice_names(attribute: Attribute, value: Any) -> Any:
    if attribute.kind != "choice":
        return value
    names = {choice.id: choice.name for choice in attribute.choices}
    if attribute.multiple:
        return tuple(names[number] for number in value)
    return names[value]


def _choice_ids(attribute: Attribute, value: Any) -> Any:
    if attribute.kind != "choice":
        return value
    ids = {choice.name: choice.id for choice in attribute.choices}
    if attribute.multiple:
        return tuple(ids[name] for name in value)
    return ids[value]


class _Resolver:
    """Looks names and ids up and collects those that are unknown."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def take(self, look_up: Callable[[Any], Any], noun: str) -> Callable[[Any, str], Any]:
        """Return a function that looks a value up, or notes that there is no such `noun`."""

        def resolve(value: Any, pointer: str) -> Any:
            try:
                return look_up(value)
            except (KeyError, TypeError):
                note = Sentence(
                    "annotations.name_unknown",
                    "The ontology has no {noun} {value}.",
                    noun=noun,
                    value=repr(value),
                )
                self._problems.append(Problem(pointer, note))
                return None

        return resolve

    def names(
        self, values: Mapping[int, Any], attributes: Sequence[Attribute], pointer: str
    ) -> dict[str, NamedValue]:
        resolve = self.take(lambda it: named_attributes(it, attributes), "attribute")
        return resolve(values, pointer) or {}

    def ids(
        self, values: Mapping[str, Any], attributes: Sequence[Attribute], pointer: str
    ) -> dict[int, Any]:
        if not values:
            return {}
        by_name = {attribute.name: attribute for attribute in attributes}
        found: dict[int, Any] = {}
        for name, value in values.items():
            attribute = self.take(by_name.__getitem__, "attribute")(name, f"{pointer}/{name}")
            if attribute is not None:
                resolve = self.take(partial(_choice_ids, attribute), "choice")
                found[attribute.id] = resolve(value, f"{pointer}/{name}")
        return dict(sorted(found.items()))

    def check(self) -> None:
        """Raise DocumentError for what was noted."""
        if self._problems:
            raise DocumentError(self._problems)
