"""The parts that a newer ontology version lacks, and those that a document uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atom.labeling.engines.documents import is_objects, label_ids_of
from atom.labeling.engines.ontologies import attributes_of

Content = tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]
# ("label", id), ("attribute", id), ("choice", attribute id, choice id) or ("relation", id).
Key = tuple[Any, ...]


def removed_from(before: Content, after: Content) -> dict[Key, dict[str, Any]]:
    """Return what `after` lacks: `{key: {"kind", "id", "name"}}`."""
    old, new = _named(before), _named(after)
    return {
        key: {"kind": key[0], "id": key[-1], "name": name}
        for key, name in old.items()
        if key not in new
    }


def used_keys(document: Mapping[str, Any]) -> Iterator[Key]:
    """Yield the keys of everything that a document names, some of them several times."""
    for number in label_ids_of(document):
        yield "label", number
    if not is_objects(document):
        return
    values = [document.get("attributes", {})]
    values += [one.get("attributes", {}) for one in document.get("objects", [])]
    for attributes in values:
        for name, value in attributes.items():
            yield "attribute", int(name)
            chosen = value if isinstance(value, list) else [value]
            # The key of a number or text is no choice of any attribute.
            yield from (("choice", int(name), one) for one in chosen if type(one) is int)
    for relation in document.get("relations", []):
        yield "relation", relation["relation"]


def _named(content: Content) -> dict[Key, str]:
    labels, schema = content
    names: dict[Key, str] = {("label", one["id"]): one["name"] for one in labels}
    names |= {("relation", one["id"]): one["name"] for one in schema.get("relations", [])}
    for _, attribute in attributes_of(labels, schema):
        names["attribute", attribute["id"]] = attribute["name"]
        for choice in attribute.get("choices", []):
            key = ("choice", attribute["id"], choice["id"])
            names[key] = f"{attribute['name']}: {choice['name']}"
    return names
