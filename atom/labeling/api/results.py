"""Rendering what became of each entry of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atom.core.errors import detail_parts
from atom.core.field_errors import codes_of
from atom.labeling.actions.audits import Ruling
from atom.labeling.actions.submissions import Outcome
from atom.labeling.errors import InvalidAnnotation


def results_of(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return one result per submission; the revision is named even if it does not count."""
    return [
        {
            **_result(outcome),
            "revision": str(outcome.revision.pk) if outcome.revision else None,
        }
        for outcome in outcomes
    ]


def rulings_of(rulings: Sequence[Ruling]) -> list[dict[str, Any]]:
    """Return one result per decision."""
    return [_result(ruling) for ruling in rulings]


def _result(done: Outcome | Ruling) -> dict[str, Any]:
    result: dict[str, Any] = {"slot": str(done.slot_id), "ok": done.error is None}
    if done.error is not None:
        error = done.error
        result |= {"code": error.code, **detail_parts(error.detail), "action": error.action}
        if isinstance(error, InvalidAnnotation):
            result |= {"errors": error.errors, "places": error.extra["places"]}
            result["error_codes"] = codes_of(error.errors)
    return result
