"""Fixtures are made once and restored for later tests: the rows and the objects of a project.

To push a dataset costs about half a second; to put it back costs a tenth of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import obstore
from django.db import connection, transaction
from psycopg import Cursor
from rest_framework.test import APIClient

from atom.core import storage
from tests.datasets.pushing import Pusher


@dataclass(frozen=True)
class _Prepared:
    """`rows` by table, as COPY writes them; `objects` by key, with their entity tags."""

    pusher: Pusher
    rows: dict[str, bytes]
    objects: dict[str, tuple[str, bytes]]


_prepared: dict[str, _Prepared] = {}


def made_once(build: Callable[[], Pusher], name: str = "") -> Pusher:
    """Return what `build` makes in an empty database; only the first call in a process builds.

    Whatever tests did to it meanwhile is undone. `build` must be all that fills the database.
    Builds with arguments have a `name` that tells them apart.
    """
    name = name or f"{build.__module__}.{build.__qualname__}"
    known = _prepared.get(name)
    if known is None:
        pusher = build()
        known = _prepared[name] = _Prepared(pusher, _read_rows(), _read_objects(pusher))
    else:
        _write_rows(known.rows)
        _write_objects(known)
    return replace(known.pusher, client=APIClient())


def _tables() -> list[str]:
    return connection.introspection.django_table_names(only_existing=True, include_views=False)


def _read_rows() -> dict[str, bytes]:
    rows = {}
    with connection.cursor() as cursor:
        for table in _tables():
            with _driver(cursor.cursor).copy(f'COPY "{table}" TO STDOUT') as copy:
                rows[table] = b"".join(bytes(block) for block in copy)
    return {table: data for table, data in rows.items() if data}


def _write_rows(rows: dict[str, bytes]) -> None:
    """Replace the rows that Django makes after each emptying; as there, no trigger fires."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, data in rows.items():
            cursor.execute(f'DELETE FROM "{table}"')
            with _driver(cursor.cursor).copy(f'COPY "{table}" FROM STDIN') as copy:
                copy.write(data)
        # Inside a test that is rolled back, the setting would stay until its end.
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def _driver(cursor: object) -> Cursor[object]:
    assert isinstance(cursor, Cursor)
    return cursor


def _read_objects(pusher: Pusher) -> dict[str, tuple[str, bytes]]:
    objects = storage.objects()
    found = objects.list_prefix(storage.project_prefix(pusher.project))
    return {item.key: (item.etag, objects.get(item.key)) for item in found}


def _write_objects(known: _Prepared) -> None:
    """Delete what came later, write again what was deleted or changed."""
    objects = storage.objects()
    prefix = storage.project_prefix(known.pusher.project)
    present = {item.key: item.etag for item in objects.list_prefix(prefix)}
    if later := sorted(present.keys() - known.objects.keys()):
        obstore.delete(objects._store, later)
    for key, (etag, data) in known.objects.items():
        if present.get(key) != etag:
            objects.put(key, data)
