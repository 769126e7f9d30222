"""A run's failure in the API: its code, its values, and the buttons that repair it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

from atom.datasets.catalog.history import branch_of
from atom.datasets.models import Version
from atom.jobs.failures.engines.failure_codes import FAILURE_CODES
from atom.jobs.failures.engines.remedies import Remedy, remedies_of
from atom.jobs.json_values import names
from atom.jobs.models import Attempt

MAIN = "main"


class RunFailureSerializer(serializers.Serializer[Any]):
    """Which sentence a failure has and what it names, for pages in another language."""

    code = serializers.ChoiceField(choices=FAILURE_CODES)
    params = serializers.DictField()
    remedies = serializers.ListField(
        child=serializers.ChoiceField(choices=names(Remedy)),
        help_text="Ways to repair it, the first to try first; empty where only the sentence helps.",
    )


class BranchedFailureSerializer(RunFailureSerializer):
    """A failure with the branch that its buttons act on."""

    branch = serializers.CharField(help_text="Where a remedy makes the next version.")


def failure_of(attempt: Attempt | None) -> dict[str, Any] | None:
    """Return code, params and remedies of the failure; None of one that an older release noted."""
    failure = attempt.evidence.get("failure") if attempt is not None else None
    if not isinstance(failure, dict):
        return None
    return {**failure, "remedies": remedies_of(str(failure.get("code")), failure.get("params"))}


def branch_at_fault(failure: Mapping[str, Any], versions: Iterable[Version]) -> str:
    """Return the branch of the version that a failure names, `main` if it names none of them."""
    named = (failure.get("params") or {}).get("dataset")
    at_fault = [one for one in versions if f"{one.dataset.name}@{one.ref}" == named]
    return branch_of(at_fault[0]) if at_fault else MAIN
