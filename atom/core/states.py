"""State machines as tables: `{DRAFT: {PACKING}, PACKING: {READY, FAILED}}`."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import models

from atom.core.errors import Conflict
from atom_sdk.sentences import Sentence

Table = Mapping[str, frozenset[str] | set[str]]


class IllegalTransition(Conflict):
    """A state was asked to become one that its table does not allow."""

    code = "illegal_state"
    title = "That is not possible in the present state."
    action = "Reload to see the present state."


def check_transition(table: Table, old: str, new: str) -> None:
    """Raise `IllegalTransition` unless `table` leads from `old` to `new`."""
    if new not in table.get(old, frozenset()):
        raise IllegalTransition(
            Sentence(
                "core.no_transition", "It is {old} and cannot become {new}.", old=old, new=new
            ),
            state=old,
        )


def all_states(table: Table) -> list[str]:
    """Return every state that the table names, sorted."""
    return sorted(set(table).union(*table.values()))


def choices(table: Table) -> list[tuple[str, str]]:
    """Return the table's states as Django choices."""
    return [(state, state.replace("_", " ")) for state in all_states(table)]


def constraint(name: str, table: Table, field: str = "state") -> models.CheckConstraint:
    """Return the database constraint that admits the table's states only."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{field}__in": all_states(table)}), name=name
    )
