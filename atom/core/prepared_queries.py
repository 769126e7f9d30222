"""SQL that is prepared once, for queries whose statement takes longer to build than to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar
from uuid import UUID, uuid4

import psycopg
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=Model)


@contextmanager
def plain_cursor() -> Iterator[psycopg.Cursor[Any]]:
    """Yield a cursor of the present transaction that sends values apart from the statement.

    Django's writes each value into the statement, bytes as twice as many digits. Its errors are
    Django's here too.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        yield cursor


class Prepared(Generic[M]):
    """A query of the ORM whose statement is put together once; it reads rows of a model.

    Django takes several times longer to put a statement together than PostgreSQL to answer one that
    finds a few rows, and PostgreSQL longer to plan one of many tables: connections that are kept
    keep its plan. `make` is called once, with a value of each of `kinds` (UUID, str) in place
    of those that `rows` is given later, so it must not look at them. It may select related rows,
    annotate and leave columns out; what it prefetches is not read.
    """

    def __init__(self, make: Callable[..., QuerySet[M]], *kinds: type) -> None:
        self._make, self._kinds = make, kinds

    def rows(self, *values: Any) -> list[M]:
        """Return the rows for these values, in the query's order."""
        made = self._made
        with plain_cursor() as cursor:
            cursor.execute(made.statement, [given(values) for given in made.parameters])
            if connection.queries_logged:
                connection.queries_log.append({"sql": made.statement, "time": ""})
            return [made.read(row) for row in cursor.fetchall()]

    def first(self, *values: Any) -> M | None:
        """Return the first row, or None; the query should have a limit."""
        return next(iter(self.rows(*values)), None)

    @cached_property
    def _made(self) -> _Made[M]:
        examples = [_EXAMPLES[kind]() for kind in self._kinds]
        queryset = self._make(*examples)
        compiler = queryset.query.get_compiler(connection.alias)
        statement, parameters = compiler.as_sql()
        return _Made(statement, [_getter(one, examples) for one in parameters], compiler)


# Placeholder values that occur nowhere else in a statement.
_EXAMPLES: Final[dict[type, Callable[[], Any]]] = {
    UUID: uuid4,
    str: lambda: uuid4().hex,
}


def _getter(parameter: Any, examples: list[Any]) -> Callable[[tuple[Any, ...]], Any]:
    if parameter in examples:
        return itemgetter(examples.index(parameter))
    return lambda _: parameter


class _Made(Generic[M]):
    """A statement, its parameters, and how a row of it becomes an instance, as Django does it."""

    def __init__(
        self, statement: str, parameters: list[Callable[[tuple[Any, ...]], Any]], compiler: Any
    ) -> None:
        self.statement, self.parameters = statement, parameters
        info, select = compiler.klass_info, compiler.select
        places = info["select_fields"]
        self._model: type[M] = info["model"]
        self._own = slice(places[0], places[-1] + 1)
        self._names = [column.target.attname for column, *_ in select[self._own]]
        self._annotations = dict(compiler.annotation_col_map or {})
        self._related = get_related_populators(info, select, connection.alias)  # type: ignore[call-arg]  # stubs of a later Django
        self._converters = compiler.get_converters([column for column, *_ in select])

    def read(self, row: Any) -> M:
        values = list(row)
        for place, (converters, expression) in self._converters.items():
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        found = self._model.from_db(connection.alias, self._names, values[self._own])
        for name, place in self._annotations.items():
            setattr(found, name, values[place])
        for related in self._related:
            related.populate(values, found)
        return found
