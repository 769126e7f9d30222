"""State that a forked child must not share: locks, connections, threads."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forgets(Protocol):
    """An object that starts again in a child process."""

    def forget(self) -> None:
        """Drop locks, connections and threads: their other half is in the parent."""


_watched: weakref.WeakSet[Forgets] = weakref.WeakSet()


def forget_in_children(instance: Forgets) -> None:
    """Call `instance.forget()` in every child that is forked while the instance lives."""
    _watched.add(instance)


def _forget_all() -> None:
    # A lock may have been held by a thread that does not exist in the child.
    for instance in list(_watched):
        instance.forget()


os.register_at_fork(after_in_child=_forget_all)
