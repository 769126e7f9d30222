"""Ids over the versions of one ontology: kept by name, never used again for something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom.labeling.engines.ontologies import attributes_of
from atom_sdk.sentences import Sentence

# An attribute belongs to a label's id, or with None to the whole picture.
Owner = int | None
# Labels and schema of a version.
Content = tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]


@dataclass
class KnownIds:
    """Every id that the versions of an ontology have used, with the newest name of each."""

    labels: dict[int, str] = field(default_factory=dict)
    attributes: dict[int, tuple[Owner, str, str]] = field(default_factory=dict)
    choices: dict[int, dict[int, str]] = field(default_factory=dict)
    relations: dict[int, str] = field(default_factory=dict)

    @property
    def label_ids(self) -> dict[str, int]:
        """The label ids by name."""
        return {name: number for number, name in self.labels.items()}

    def add(self, labels: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> None:
        """Take up the ids of one version."""
        self.labels |= {label["id"]: label["name"] for label in labels}
        self.relations |= {one["id"]: one["name"] for one in schema.get("relations", [])}
        for owner, one in attributes_of(labels, schema):
            self.attributes[one["id"]] = (owner, one["name"], one["kind"])
            names = {choice["id"]: choice["name"] for choice in one.get("choices", [])}
            self.choices.setdefault(one["id"], {}).update(names)


def known_ids(versions: Iterable[Content]) -> KnownIds:
    """Return the ids of versions' labels and schemas, the oldest version first."""
    known = KnownIds()
    for labels, schema in versions:
        known.add(labels, schema)
    return known


def complete_ids(labels: Sequence[dict[str, Any]], schema: dict[str, Any], known: KnownIds) -> None:
    """Give attributes, choices and relations without an id one, in place.

    The same name at the same place in an earlier version keeps its id.
    """
    by_place = {(owner, name): number for number, (owner, name, _) in known.attributes.items()}
    attributes = list(attributes_of(labels, schema))
    places = [((owner, one["name"]), one) for owner, one in attributes]
    _fill(places, by_place, set(known.attributes))
    for _, one in attributes:
        earlier = known.choices.get(one["id"], {})
        by_name = {name: number for number, name in earlier.items()}
        _fill([(c["name"], c) for c in one["choices"]], by_name, set(earlier))
    by_name = {name: number for number, name in known.relations.items()}
    _fill([(one["name"], one) for one in schema["relations"]], by_name, set(known.relations))


def _fill(rows: list[tuple[Any, dict[str, Any]]], known: Mapping[Any, int], used: set[int]) -> None:
    taken = used | {row["id"] for _, row in rows if row.get("id") is not None}
    taken |= {known[name] for name, _ in rows if name in known}
    following = max(taken, default=0)
    for name, row in rows:
        if row.get("id") is None:
            if name not in known:
                following += 1
            row["id"] = known.get(name, following)


def meaning_problems(
    labels: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], known: KnownIds
) -> dict[str, list[str]]:
    """Return errors by field where an id would change its meaning; a new name is no change.

    A name that an earlier version had under another id is a mistake, not a new name.
    """
    errors: dict[str, list[str]] = {}
    names = known.label_ids
    for index, label in enumerate(labels):
        earlier = names.get(label["name"])
        if earlier is not None and earlier != label["id"]:
            errors[f"labels.{index}.id"] = [_kept(label["name"], earlier)]
    for owner, one in attributes_of(labels, schema):
        _check_attribute(owner, one, known, errors)
    return errors


def _check_attribute(
    owner: Owner, one: Mapping[str, Any], known: KnownIds, errors: dict[str, list[str]]
) -> None:
    before = known.attributes.get(one["id"])
    where = f"attributes.{one['id']}"
    if before is not None and before[2] != one["kind"]:
        errors[where] = [
            Sentence(
                "labeling.attribute_kind_fixed",
                "The attribute {name} was of the kind {kind} before. Give the new one another id.",
                name=one["name"],
                kind=before[2],
            )
        ]
    if before is not None and before[0] != owner:
        errors[where] = [
            Sentence(
                "labeling.attribute_moved",
                "The attribute {name} belonged to another label before. Give it another id.",
                name=one["name"],
            )
        ]
    earlier = {name: number for number, name in known.choices.get(one["id"], {}).items()}
    for choice in one.get("choices", []):
        if earlier.get(choice["name"], choice["id"]) != choice["id"]:
            errors[where] = [_kept(choice["name"], earlier[choice["name"]])]


def _kept(name: str, number: int) -> Sentence:
    return Sentence(
        "labeling.id_kept",
        "{name} had the id {id} in an earlier version and keeps it. Give it that id, or none.",
        name=name,
        id=number,
    )
