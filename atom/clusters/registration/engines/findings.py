"""The result of one check of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from atom_sdk.sentences import Sentence

Level = Literal["ok", "warn", "fail"]
LEVELS: tuple[Level, ...] = ("ok", "warn", "fail")
# Whether a pod reaches this server; the evidence of one that was tried says when.
POD_REACHES_ATOM = "pod_reaches_atom"
ASKED_AT = "asked_at"
Stored = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked: its level, a sentence, and what it was concluded from."""

    code: str
    level: Level
    sentence: Sentence
    evidence: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored and shown."""
        parts = self.sentence.as_code()
        return {
            "code": self.code,
            "level": self.level,
            "detail": str(self.sentence),
            "detail_code": parts["code"],
            "detail_params": parts["params"],
            "evidence": self.evidence,
        }


def passed(findings: Sequence[Stored]) -> bool:
    """Return whether no stored finding has the level fail."""
    return all(finding["level"] != "fail" for finding in findings)


def pod_finding(findings: Sequence[Stored]) -> Stored | None:
    """Return what a pod that was tried said, None if none was."""
    for finding in findings:
        if finding["code"] == POD_REACHES_ATOM and ASKED_AT in finding["evidence"]:
            return finding
    return None


def keep_pod_finding(findings: Sequence[Stored], before: Sequence[Stored]) -> list[Stored]:
    """Return the findings of a check, with what a pod said before in place of the check's own."""
    kept = pod_finding(before)
    return replace_pod_finding(findings, kept) if kept else list(findings)


def replace_pod_finding(findings: Sequence[Stored], finding: Stored) -> list[Stored]:
    """Return the findings with this one of a pod, the last."""
    return [*(one for one in findings if one["code"] != POD_REACHES_ATOM), finding]


def replace_finding(findings: Sequence[Stored], code: str, finding: Finding | None) -> list[Stored]:
    """Return the findings with this one in place of those of its code; None: without them."""
    others = [one for one in findings if one["code"] != code]
    return [*others, finding.as_json()] if finding else others
