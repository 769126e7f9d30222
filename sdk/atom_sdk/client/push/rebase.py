"""A push whose branch moved meanwhile: its own changes go on top of what the other push did.

Three sides by path: the folder, the version that the push began with, and the new head. Paths that
the folder did not change since that version stay as the head has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom_sdk.amounts import first_named
from atom_sdk.client.errors import PushConflictError

_NAMED_PATHS = 3
Digests = Mapping[str, bytes]


@dataclass(frozen=True)
class OwnChanges:
    """The paths that a push puts, and those that it removes from the new head."""

    put: frozenset[str]
    removed: tuple[str, ...]


def own_changes(folder: Digests, base: Digests, head: Digests) -> OwnChanges:
    """Return what the folder changed since `base`.

    Raises PushConflictError where both changed one path, each in its own way.
    """
    put = [path for path, digest in folder.items() if base.get(path) != digest]
    gone = [path for path in base if path not in folder]
    clashing = [path for path in put if head.get(path) not in (base.get(path), folder[path])]
    clashing += [path for path in gone if head.get(path) not in (base[path], None)]
    if clashing:
        raise PushConflictError(_conflict_sentence(sorted(clashing)))
    removed = sorted((path for path in gone if path in head), key=str.encode)
    return OwnChanges(frozenset(put), tuple(removed))


def _conflict_sentence(paths: list[str]) -> str:
    named = first_named(list(map(repr, paths)), _NAMED_PATHS)
    return f"Another push changed the same files meanwhile: {named}."
