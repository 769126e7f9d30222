"""SQL that is sent as it is, where to make the statement takes longer than the database does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, TypeVar

import psycopg
from django.db import connection
from django.db.models import Model

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


class RowWithParent(Generic[M]):
    """Finds a row together with the one that its foreign key `parent` names.

    For what each request asks: Django takes several times longer to put the statement together
    than PostgreSQL to answer it, so it is put together once. `where` calls the two `row` and
    `parent`. Values come as PostgreSQL sends them: no field of either may need converting.
    """

    def __init__(self, model: type[M], parent: str, where: str) -> None:
        self._model, self._parent, self._where = model, parent, where

    def find(self, *values: str) -> M | None:
        """Return the first row, or None."""
        statement, own, others, parent = self._made
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            found = cursor.fetchone()
        if found is None:
            return None
        row = self._model.from_db(connection.alias, own, found[: len(own)])
        setattr(row, self._parent, parent.from_db(connection.alias, others, found[len(own) :]))
        return row

    @cached_property
    def _made(self) -> tuple[str, list[str], list[str], type[Model]]:
        link: Any = self._model._meta.get_field(self._parent)
        parent = link.related_model
        own, others = self._model._meta, parent._meta
        columns = [f'"row"."{one.column}"' for one in own.concrete_fields]
        columns += [f'"parent"."{one.column}"' for one in others.concrete_fields]
        statement = (
            f'SELECT {", ".join(columns)} FROM "{own.db_table}" AS "row" '
            f'JOIN "{others.db_table}" AS "parent" '
            f'ON "parent"."{others.pk.column}" = "row"."{link.column}" WHERE {self._where} LIMIT 1'
        )
        names = [[one.attname for one in meta.concrete_fields] for meta in (own, others)]
        return statement, *names, parent
