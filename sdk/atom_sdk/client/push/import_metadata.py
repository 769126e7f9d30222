"""Metadata of an import's files, beside their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ImportMetadata:
    """Metadata of an import's files, by path: labels, splits, and documents of annotations as JSON.

    `keeps_others` leaves the branch's other files as they are; `provenance` says where the files
    came from.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    keeps_others: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict)
