"""Errors in the text of a query; each one names the place in the text."""

from __future__ import annotations

from atom_sdk.errors import ManifestError
from atom_sdk.sentences import Sentence

EXAMPLE = "label = 'cat' AND attributes.camera LIKE 'north%' AND size > 1000"


class QueryError(ManifestError):
    """The text is no query."""

    code = "query_invalid"
    hint = f"Write a condition such as: {EXAMPLE}"

    def __init__(self, problem: str, position: int) -> None:
        """`position` is the character that is wrong, counted from 1."""
        super().__init__(
            Sentence(
                "query.invalid",
                "The query is not valid at character {position}: {problem}",
                position=position,
                problem=problem,
            )
        )
        self.problem = problem
        self.position = position


class QuerySyntaxError(QueryError):
    """The text cannot be read as an SQL condition."""

    code = "query_syntax"


class QueryTermError(QueryError):
    """The text is SQL, but uses something that a query may not have."""

    code = "query_not_allowed"


class QueryColumnError(QueryError):
    """The query names a column that entries do not have."""

    code = "query_column"

    def __init__(self, problem: str, position: int, column: str = "", suggestion: str = "") -> None:
        """`column` is the unknown name, `suggestion` the column that it resembles, if any."""
        super().__init__(problem, position)
        self.column = column
        self.suggestion = suggestion


class QueryTypeError(QueryError):
    """Two values are compared that can never be comparable."""

    code = "query_type"


class QueryTooLargeError(QueryError):
    """The query is too long or too deeply nested."""

    code = "query_too_large"
    hint = "Shorten the query, or give the files an attribute and ask for that."
