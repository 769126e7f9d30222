"""A clock that only the simulation moves, for Python, the stand-in and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.db import connection

_FUNCTIONS = ("clock_timestamp", "statement_timestamp", "now")
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """The time of a simulation."""

    def __init__(self) -> None:
        self.moment = _BEGINNING

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.moment += timedelta(seconds=seconds)
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('simulation.now', %s, false)", [str(self.moment)])


@contextmanager
def simulated_time() -> Iterator[Clock]:
    """Let the database's functions of time return what the clock says, in this connection."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA simulation")
        for name in _FUNCTIONS:
            cursor.execute(
                f"CREATE FUNCTION simulation.{name}() RETURNS timestamptz LANGUAGE sql VOLATILE "
                "AS $$ SELECT current_setting('simulation.now')::timestamptz $$"
            )
        # The schema that is named first wins over the system's own, which else comes first.
        cursor.execute("SET search_path = simulation, public, pg_catalog")
    clock = Clock()
    clock.advance(0)
    try:
        yield clock
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET search_path")


@contextmanager
def forgotten(clock: Clock) -> Iterator[None]:
    """Take back all rows that are written inside, and let the clock begin again.

    Statements, as a block of Django's would change when what waits for a commit runs.
    """
    with connection.cursor() as cursor:
        cursor.execute("SAVEPOINT schedule")
        clock.moment = _BEGINNING
        clock.advance(0)
        try:
            yield
        finally:
            cursor.execute("ROLLBACK TO SAVEPOINT schedule")
            cursor.execute("RELEASE SAVEPOINT schedule")
