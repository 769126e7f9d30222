"""One worker at a time: PostgreSQL's advisory locks, which fall with the process that held them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection

# Locks of two numbers and locks of one never meet.
_SHARED_SPACE = 0x41746F6D


@contextmanager
def only_worker(work: UUID | str) -> Iterator[bool]:
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


@contextmanager
def in_turn(work: UUID) -> Iterator[None]:
    """Hold the lock on `work` while the block runs; waits while another worker holds it.

    In a transaction it is held until the end, since a failed transaction could not release it.
    """
    key = int.from_bytes(work.bytes[-8:], "big", signed=True)
    if connection.in_atomic_block:
        _ask("pg_advisory_xact_lock", key)
        yield
        return
    _ask("pg_advisory_lock", key)
    try:
        yield
    finally:
        _ask("pg_advisory_unlock", key)


@contextmanager
def shared(work: UUID) -> Iterator[None]:
    """Hold the lock on `work` together with others; waits while one holds it `alone`.

    In a transaction it is held until the end, since a failed transaction could not release it.
    """
    if connection.in_atomic_block:
        _ask_shared("pg_advisory_xact_lock_shared", work)
        yield
        return
    _ask_shared("pg_advisory_lock_shared", work)
    try:
        yield
    finally:
        _ask_shared("pg_advisory_unlock_shared", work)


@contextmanager
def alone(work: UUID) -> Iterator[bool]:
    """Hold the lock on `work` alone; yield False at once if somebody shares it.

    It does not queue: a waiting holder would make everybody who wants to share wait as well.
    """
    mine = _ask_shared("pg_try_advisory_lock", work)
    try:
        yield mine
    finally:
        if mine:
            _ask_shared("pg_advisory_unlock", work)


def _ask_shared(function: str, work: UUID) -> bool:
    key = int.from_bytes(work.bytes[-4:], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_SHARED_SPACE, key])
        # The function that waits answers with nothing.
        return cursor.fetchone()[0] is True


def _ask(function: str, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return bool(cursor.fetchone()[0])
