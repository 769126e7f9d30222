"""The text of a query as people send it, and what a saved view adds to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from atom.datasets.errors import QueryInvalid, ViewNotFound
from atom.datasets.models import Dataset, SavedView
from atom_sdk.manifests.query import (
    Query,
    QueryError,
    below,
    both,
    in_splits,
    parse_query,
)
from atom_sdk.manifests.query.errors import QueryColumnError
from atom_sdk.sentences import Sentence


def query_of(text: str, field: str = "where") -> Query | None:
    """Return the query, None for an empty text. Raises QueryInvalid, which names `field`."""
    if not text.strip():
        return None
    try:
        return parse_query(text)
    except QueryError as error:
        raise QueryInvalid(
            str(error),
            errors={field: [_at_character(error)]},
            position=error.position,
            reason=error.code,
            **_named(error),
        ) from error


def _at_character(error: QueryError) -> Sentence:
    return Sentence(
        "query.at_character",
        "Character {position}: {problem}",
        position=error.position,
        problem=error.problem,
    )


def _named(error: QueryError) -> dict[str, Any]:
    """Return the unknown column of a query and the one that it resembles, as parameters."""
    if not isinstance(error, QueryColumnError) or not error.column:
        return {}
    return {"column": error.column, "suggestion": error.suggestion}


def selection_query(where: str, prefix: str, splits: Sequence[str]) -> Query | None:
    """Return one query for all that a view asks, None if it asks nothing. Raises QueryInvalid."""
    found = query_of(where)
    if splits:
        chosen = in_splits(splits)
        found = chosen if found is None else both(chosen, found)
    if prefix:
        found = below(prefix, found)
    return found if found is None else _that_fits(found)


def view_query(view: SavedView) -> Query | None:
    """Return everything that a view asks as one query."""
    return selection_query(view.where, view.prefix, view.splits)


def find_view(dataset: Dataset, name: str) -> SavedView:
    """Return a dataset's view. Raises ViewNotFound."""
    found = dataset.saved_views.select_related("created_by").filter(name=name).first()
    if found is None:
        raise ViewNotFound(
            Sentence(
                "datasets.view_unknown",
                "{dataset} has no view {view}.",
                dataset=dataset.name,
                view=name,
            )
        )
    found.dataset = dataset
    return found


def combine_with_view(dataset: Dataset, where: str, view: str = "") -> Query | None:
    """Return the query for what matches `where` and is in the view; either may be empty.

    Raises QueryInvalid, ViewNotFound.
    """
    asked = query_of(where)
    saved = view_query(find_view(dataset, view)) if view else None
    if asked is None or saved is None:
        return asked or saved
    return _that_fits(both(saved, asked))


def add_file_filters(
    query: Query | None, kind: str, sizes: tuple[int | None, int | None]
) -> Query | None:
    """Return the query for what also is of a kind and of a size, ends included.

    A kind is a media type (`image/png`), a family of them (`image/`) or an ending (`.png`).
    """
    smallest, largest = sizes
    facts = [
        _kind_condition(kind) if kind else "",
        f"size >= {smallest}" if smallest is not None else "",
        f"size <= {largest}" if largest is not None else "",
    ]
    asked = query_of(" AND ".join(filter(None, facts)), "type")
    if asked is None or query is None:
        return asked or query
    return _that_fits(both(query, asked))


def _kind_condition(kind: str) -> str:
    text = kind.replace("'", "''")
    pattern = re.sub(r"[%_\\]", r"\\\g<0>", text)
    if kind.startswith("."):
        return f"name ILIKE '%{pattern}'"
    return f"media_type LIKE '{pattern}%'" if kind.endswith("/") else f"media_type = '{text}'"


def _that_fits(query: Query) -> Query:
    """Refuse what could be read here, but not where its text is read again."""
    query_of(query.text)
    return query
