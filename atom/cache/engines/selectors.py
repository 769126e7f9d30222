"""Selectors: which entries of a version a reader gets, as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from blake3 import blake3

from atom.core.errors import Invalid
from atom_sdk.manifests.query import Query, QueryError, parse_query
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.manifests.views import ViewSelector
from atom_sdk.sentences import Sentence


def view_selector(selector: Mapping[str, Any] | None) -> ViewSelector:
    """Return the selector for `{"split": "train" | [names], "labelled": true, "where": "…"}`.

    Raises Invalid for anything else.
    """
    given = dict(selector or {})
    split = given.pop("split", given.pop("splits", None))
    labelled = bool(given.pop("labelled", given.pop("labelled_only", False)))
    where = given.pop("where", None)
    names = [split] if isinstance(split, str) else split
    if given or not (names is None or all(isinstance(name, str) for name in names)):
        raise Invalid(
            errors={
                "selector": [
                    Sentence("cache.selector_unknown", "Select by split, labelled and where.")
                ]
            }
        )
    splits = frozenset(names) if names else None
    return ViewSelector(splits=splits, labelled_only=labelled, where=_query(where))


def _query(where: Any) -> Query | None:
    if where is None:
        return None
    try:
        return parse_query(str(where))
    except QueryError as error:
        raise Invalid(errors={"selector": [str(error)]}) from error


def view_id(root: Root, selector: ViewSelector, own_packs: Iterable[str] = ()) -> str:
    """Return the name of a view: the same content, layers and selector give the same name."""
    parts: dict[str, Any] = {
        "content": root.content.hex(),
        # Where the bytes lie is part of a view, so the ranges' objects are too.
        "ranges": ["".join(name.hex() for name in part.layout) for part in root.ranges],
        "layers": [layer.content.hex() for layer in root.layers],
        "splits": sorted(selector.splits) if selector.splits is not None else None,
        "labelled_only": selector.labelled_only,
    }
    if own := sorted(own_packs):
        # Objects at a source lie where this node packed them, which may change after an eviction.
        parts["own_packs"] = own
    if selector.where is not None:
        parts["where"] = selector.where.text
    return blake3(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
