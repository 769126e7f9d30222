"""The result of one check of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from atom_sdk.sentences import Sentence

Level = Literal["ok", "warn", "fail"]
LEVELS: tuple[Level, ...] = ("ok", "warn", "fail")


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
