"""A database whose tests are rolled back, though what waits for a commit runs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


def run_at_commits(patch: pytest.MonkeyPatch) -> None:
    """Run what waits for a commit as soon as the test's own outermost block ends well.

    The block of the test itself, which is rolled back at the end, never commits. A savepoint right
    below it stands for a transaction. Outside of all blocks, each statement does.
    """
    connection = connections["default"]
    commit: Callable[[str], None] = connection.savepoint_commit

    def savepoint_commit(sid: str) -> None:
        commit(sid)
        if not connection.savepoint_ids:
            _run_hooks(connection)

    def on_commit(hook: Callable[[], Any], robust: bool = False) -> None:
        type(connection).on_commit(connection, hook, robust)
        if len(connection.atomic_blocks) == 1:
            _run_hooks(connection)

    patch.setattr(connection, "savepoint_commit", savepoint_commit)
    patch.setattr(connection, "on_commit", on_commit)


def _run_hooks(connection: BaseDatabaseWrapper) -> None:
    # As after a commit: if one fails, those behind it are lost.
    hooks, connection.run_on_commit = connection.run_on_commit, []
    for _, hook, is_robust in hooks:  # type: ignore[misc]  # stubs of an older Django
        try:
            hook()
        except Exception:
            if not is_robust:
                raise
