"""One worker at a time: PostgreSQL's advisory locks, which fall with the process that held them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection


@contextmanager
def only_one(work: UUID | str) -> Iterator[bool]:
    """Hold the lock on a piece of work, named by its row's id, while the block runs.

    Gives False at once when another worker holds it; that one will finish the work.
    """
    key = int.from_bytes(UUID(str(work)).bytes[-8:], "big", signed=True)
    mine = _ask("pg_try_advisory_lock", key)
    try:
        yield mine
    finally:
        if mine:
            _ask("pg_advisory_unlock", key)


def _ask(function: str, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return bool(cursor.fetchone()[0])
