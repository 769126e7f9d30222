"""The parts that a newer ontology version lacks or tightens, and those that a document uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from atom.labeling.engines.documents import is_objects, label_ids_of
from atom.labeling.engines.ontologies import CLASSIFICATION, attributes_of

Content = tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]
# ("label", id), ("tool", tool, label id), ("attribute", id), ("choice", attribute id, choice id) or
# ("relation", id).
Key = tuple[Any, ...]
# Other fields of an attribute decide which values it takes; `removed_from` covers its choices.
_FREE_OF_ATTRIBUTES: Final = frozenset({"name", "default", "choices", "required"})


def removed_from(before: Content, after: Content) -> dict[Key, dict[str, Any]]:
    """Return what `after` lacks: `{key: {"kind", "id", "name"}}`.

    The tools of a label that is gone are not named beside it.
    """
    old, new = _named(before), _named(after)
    return {
        key: {"kind": key[0], "id": key[-1], "name": name}
        for key, name in old.items()
        if key not in new and (key[0] != "tool" or ("label", key[-1]) in new)
    }


def is_tighter(before: Content, after: Content) -> bool:
    """Return whether `after` may refuse documents that `before` takes and that lack nothing in it.

    Required attributes, limits, parents, skeletons and ends of relations can do that.
    """
    (old_labels, old_schema), (labels, schema) = before, after
    kept = {one["id"]: one for one in labels}
    fields = ("parent", "skeleton")
    changed = any(
        one[name] != kept[one["id"]][name]
        for one in old_labels
        if one["id"] in kept
        for name in fields
    )
    if changed or (old_schema["multiple"] and not schema["multiple"]):
        return True
    ends = {one["id"]: (one["from"], one["to"]) for one in schema["relations"]}
    old_ends = ((one["id"], (one["from"], one["to"])) for one in old_schema["relations"])
    if any(ends.get(number, both) != both for number, both in old_ends):
        return True
    return _has_tighter_attribute(before, after)


def _has_tighter_attribute(before: Content, after: Content) -> bool:
    old = {one["id"]: (owner, one) for owner, one in attributes_of(*before)}
    for owner, attribute in attributes_of(*after):
        old_owner, earlier = old.get(attribute["id"], (owner, {"required": False}))
        is_new = attribute["id"] not in old
        if attribute["required"] and not earlier["required"]:
            return True
        names = set() if is_new else set(attribute) - _FREE_OF_ATTRIBUTES
        if owner != old_owner or any(attribute[name] != earlier[name] for name in names):
            return True
    return False


def used_keys(document: Mapping[str, Any]) -> Iterator[Key]:
    """Yield the keys of everything that a document names, some of them several times."""
    numbers = label_ids_of(document)
    for number in numbers:
        yield "label", number
    of_picture = document.get("labels", []) if is_objects(document) else numbers
    for number in of_picture:
        yield "tool", CLASSIFICATION, number
    if not is_objects(document):
        return
    for drawn in document.get("objects", []):
        yield "tool", drawn["kind"], drawn["label"]
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
    for one in labels:
        names |= {("tool", tool, one["id"]): f"{one['name']}: {tool}" for tool in one["tools"]}
    names |= {("relation", one["id"]): one["name"] for one in schema.get("relations", [])}
    for _, attribute in attributes_of(labels, schema):
        names["attribute", attribute["id"]] = attribute["name"]
        for choice in attribute.get("choices", []):
            key = ("choice", attribute["id"], choice["id"])
            names[key] = f"{attribute['name']}: {choice['name']}"
    return names
