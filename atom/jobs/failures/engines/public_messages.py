"""Messages about a failure for people without an account; they name no machine and no path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atom.jobs.failures.engines.failure_codes import FailureCode

# Their sentences name numbers, signals and datasets of the shared page. The others repeat text of
# a machine, a store or pip: for these the page shows the class of the failure only.
_TOLD = frozenset(
    {
        FailureCode.OUT_OF_MEMORY,
        FailureCode.DEADLINE,
        FailureCode.SIGNALLED,
        FailureCode.EXITED,
        FailureCode.RUNNER_LOST,
        FailureCode.NO_LABELS,
        FailureCode.NO_OBJECTS,
        FailureCode.SPLIT_EMPTY,
        FailureCode.NOTHING_READABLE,
        FailureCode.GPU_OUT_OF_MEMORY,
    }
)


@dataclass(frozen=True, slots=True)
class OutsideWords:
    """A failure's sentence, by its code and in English; empty if it is not public."""

    reason: str | None = None
    code: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def public_message(
    failure: Mapping[str, Any] | None, reason: str, *, with_log: bool
) -> OutsideWords:
    """Return the public part of a failure; the program's own last lines only with its log."""
    code = failure.get("code") if failure else None
    params = (failure.get("params") if failure else None) or {}
    if code == FailureCode.EXITED_WITH_ERROR and not with_log:
        status = params.get("exit_code")
        said = f"The command ended with exit code {status}."
        return OutsideWords(said, FailureCode.EXITED, {"exit_code": status})
    if code in _TOLD or code == FailureCode.EXITED_WITH_ERROR:
        return OutsideWords(reason or None, str(code), params)
    return OutsideWords()
