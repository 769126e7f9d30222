"""Queries: which entries of a version, as the text after SQL's WHERE. Grammar: README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.manifests.query.errors import QueryError
    from atom_sdk.manifests.query.evaluation import matches
    from atom_sdk.manifests.query.filtering import matching
    from atom_sdk.manifests.query.limits import MAX_DEPTH, MAX_TEXT_CHARACTERS
    from atom_sdk.manifests.query.object_facts import read_object_facts
    from atom_sdk.manifests.query.ranges import may_match
    from atom_sdk.manifests.query.tree import UNSPLIT_IS, Query, asks_about, below, both, in_splits

__all__ = [
    "MAX_DEPTH",
    "MAX_TEXT_CHARACTERS",
    "UNSPLIT_IS",
    "Query",
    "QueryError",
    "asks_about",
    "below",
    "both",
    "in_splits",
    "matches",
    "matching",
    "may_match",
    "parse_query",
    "read_object_facts",
]

_MODULES = {
    "errors": ("QueryError",),
    "evaluation": ("matches",),
    "limits": ("MAX_DEPTH", "MAX_TEXT_CHARACTERS"),
    "filtering": ("matching",),
    "object_facts": ("read_object_facts",),
    "ranges": ("may_match",),
    "tree": ("UNSPLIT_IS", "Query", "asks_about", "below", "both", "in_splits"),
}
if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)


def parse_query(text: str) -> Query:
    """Read the text of a query. Raises a QueryError that names the place."""
    # sqlglot takes 0.2 s to load: a command without a query must not wait for it.
    from atom_sdk.manifests.query.parsing import parse

    return parse(text)
