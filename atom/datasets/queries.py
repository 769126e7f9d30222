"""The text of a query as people send it."""

from __future__ import annotations

from atom.datasets.errors import QueryInvalid
from atom_sdk.manifests.query import Query, QueryError, parse_query


def query_of(text: str, field: str = "where") -> Query | None:
    """Return the query, None for an empty text. Raises QueryInvalid, which names `field`."""
    if not text.strip():
        return None
    try:
        return parse_query(text)
    except QueryError as error:
        problem = f"Character {error.position}: {error.problem}"
        raise QueryInvalid(
            str(error), errors={field: [problem]}, position=error.position, reason=error.code
        ) from error
