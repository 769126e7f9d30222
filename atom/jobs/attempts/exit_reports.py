"""Exit reports of runners, which are sent or lie in the attempt's folder.

The file in the folder belongs to the user that the command runs as: it may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from atom.core.bodies import MAX_DEPTH, is_deeper_than
from atom.jobs.failures.engines.failures import ExitReport
from atom_sdk.runner.evidence import storable

# The largest number that the column holds.
MAX_INT = 2**31 - 1


class ExitSerializer(serializers.Serializer[Any]):
    """The runner's exit report."""

    exit_code = serializers.IntegerField(
        min_value=-MAX_INT, max_value=MAX_INT, allow_null=True, required=False, default=None
    )
    signal = serializers.IntegerField(
        min_value=0, max_value=MAX_INT, allow_null=True, required=False, default=None
    )
    reason = serializers.ChoiceField(
        choices=["exited", "oom", "timeout", "cancelled", "not_found", "runner_lost", "preempted"]
    )
    evidence = serializers.DictField(required=False, default=dict)
    counters = serializers.DictField(required=False, default=dict)


@dataclass(frozen=True, slots=True)
class CheckedExitReport:
    """How the command ended, and what is kept of it for people."""

    report: ExitReport
    evidence: dict[str, Any]


def check_exit_report(checked: Mapping[str, Any]) -> CheckedExitReport:
    """Return a checked report, in characters that can be stored."""
    evidence = storable(checked["evidence"])
    declared = evidence.get("declared")
    report = ExitReport(
        reason=checked["reason"],
        exit_code=checked["exit_code"],
        signal=checked["signal"],
        tail=str(evidence.get("tail") or ""),
        traceback=str(evidence.get("traceback") or ""),
        stage=str(evidence.get("stage") or ""),
        disk=str(evidence.get("disk") or ""),
        declared=declared if isinstance(declared, dict) else None,
    )
    return CheckedExitReport(report, {**evidence, "counters": storable(checked["counters"])})


def parse_exit_report(found: object) -> CheckedExitReport | None:
    """Return the report from an attempt's folder; None if the API would refuse it."""
    if not isinstance(found, dict) or is_deeper_than(found, MAX_DEPTH):
        return None
    checked = ExitSerializer(data=storable(found))
    return check_exit_report(checked.validated_data) if checked.is_valid() else None
