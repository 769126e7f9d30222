"""Statements that read, lock and change the runs that programs log to, one for each act.

A program sets a tag or logs a few points some hundred times a second. Through the ORM, most of such
a request's time went into making statements, and into rows of fifty columns of which five are read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from atom.core.prepared_queries import plain_cursor
from atom.jobs.models import Attempt, Run
from atom.jobs.states import EXECUTED

_FIND = """
SELECT run.id, run.archived_at IS NOT NULL, run.origin = %s,
       (SELECT id FROM jobs_attempt WHERE run_id = run.id ORDER BY number DESC LIMIT 1)
FROM jobs_run run
WHERE run.id = %s AND run.project_id = %s
"""

# Columns that a program may change, and columns that notifications of pages need. They are in the
# order of the model's fields, as `from_db` needs them.
_DESCRIBED = (
    *("id", "project_id", "number", "name", "parameters", "state", "origin", "logged_parameters"),
    *("labels", "progress", "progress_text"),
)
_JSON = frozenset({"parameters", "logged_parameters", "labels"})
# Not its key: rows that name the run are added meanwhile.
_LOCK = f"SELECT {', '.join(_DESCRIBED)} FROM jobs_run WHERE id = %s FOR NO KEY UPDATE"  # our names


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """The facts of a run that logging to it needs, and its last attempt if it has started."""

    pk: UUID
    is_archived: bool
    # Atom runs its command; what programs elsewhere log to it, that command has not logged.
    is_executed: bool
    attempt_id: UUID | None

    @property
    def attempt(self) -> Attempt:
        """Return the attempt that a program's report belongs to, with its ids alone.

        There is always one. Only its own command logs to a run that Atom executes, so an attempt
        has begun. A run that is only reported to Atom is created with an attempt.
        """
        if self.attempt_id is None:
            raise Attempt.DoesNotExist
        return Attempt(pk=self.attempt_id, run_id=self.pk)


def find(project_id: UUID, run_id: UUID) -> LoggedRun | None:
    """Return a run of the project."""
    with plain_cursor() as cursor:
        row = cursor.execute(_FIND, [EXECUTED, run_id, project_id]).fetchone()
    return None if row is None else LoggedRun(*row)


def lock_described(run_id: UUID) -> Run:
    """Return the run with its logged fields; its row is locked until the caller commits."""
    with plain_cursor() as cursor:
        row = cursor.execute(_LOCK, [run_id]).fetchone()
    if row is None:
        raise Run.DoesNotExist
    values = [
        json.loads(value) if name in _JSON else value
        for name, value in zip(_DESCRIBED, row, strict=True)
    ]
    return Run.from_db(connection.alias, _DESCRIBED, values)


def describe(run: Run, *names: str) -> None:
    """Write the fields `names` of a locked run, as a program reported them."""
    values = [
        json.dumps(value) if name in _JSON else value
        for name, value in ((name, getattr(run, name)) for name in names)
    ]
    columns = "".join(f"{name} = %s, " for name in names)
    statement = f"UPDATE jobs_run SET {columns}updated_at = statement_timestamp() WHERE id = %s"
    with plain_cursor() as cursor:
        cursor.execute(statement.encode(), [*values, run.pk])
