"""Metrics of apps for Prometheus, and findings for the health page.

An app may have a module `health_checks` with `gauges()`, `findings()` or both; `atom.observability`
collects them at each request. Both read shared state (PostgreSQL, Valkey), so that every web
process answers the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.db.models import Count, QuerySet

Level = Literal["ok", "warning", "problem"]
LEVELS: Final[tuple[Level, ...]] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True)
class Gauge:
    """One value of now. Gauges of one name have the same label names and the same help."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """How one part of the installation is; the portal has the words to each `code`.

    `figures` are numbers and names that the words mention; `detail` and `action` say the same in
    English, for programs.
    """

    code: str
    level: Level
    detail: str
    action: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


def worst(findings: list[Finding]) -> Level:
    """Return the worst level of all, `ok` of none."""
    return max((one.level for one in findings), key=LEVELS.index, default="ok")


def counted(name: str, help: str, rows: QuerySet[Any], by: str = "state") -> Iterator[Gauge]:
    """Yield one gauge per value of a column: how many rows have it."""
    for value, count in rows.order_by(by).values_list(by).annotate(n=Count("pk")):
        yield Gauge(name, help, count, {by: value})
