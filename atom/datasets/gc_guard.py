"""While a version is being built or a pack published, nothing of the project is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from atom.accounts.models import Project
from atom.core import locks


@contextmanager
def hold_gc(project: Project) -> Iterator[None]:
    """Hold off deletions of garbage while the block reads, reuses and writes objects.

    Many may build at once. Keep it around everything from the first object that is looked up to
    the move of the branch.
    """
    with locks.shared(project.pk):
        yield


@contextmanager
def nothing_built(project: Project) -> Iterator[bool]:
    """Hold off builds while the block deletes; False at once when one is under way."""
    with locks.alone(project.pk) as mine:
        yield mine
