"""The transcripts: one recorded request and its answer a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.kubernetes.patches import merge_patch

Json = dict[str, Any]

SHARED = Path(__file__).parents[3].parent / "shared"
FOLDER = SHARED / "kubernetes-transcripts"

_KINDS = {
    "configmaps": "ConfigMap",
    "jobs": "Job",
    "leases": "Lease",
    "pods": "Pod",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "namespaces": "Namespace",
}


@dataclass
class Line:
    """One line of a transcript."""

    file: str
    number: int
    note: str
    scenario: str
    method: str
    path: str
    query: dict[str, str]
    body: Any
    content_type: str
    user: str
    status: int
    headers: dict[str, str]
    raw: Json

    @property
    def is_by_hand(self) -> bool:
        """Return whether the recorder did this in the place of a kubelet."""
        return "by" in self.raw

    @property
    def is_watch(self) -> bool:
        """Return whether events were streamed."""
        return "stream" in self.raw

    @property
    def stream(self) -> list[Json]:
        """Return the streamed events."""
        return list(self.raw.get("stream") or ())

    @property
    def response(self) -> Any:
        """Return the recorded answer."""
        return self.raw.get("response")

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what names the line in the table of what is not compared."""
        return self.file, self.scenario, self.note


def load(file: str) -> list[Line]:
    """Return the lines of a transcript, with the bodies that the recording left out."""
    lines = (FOLDER / f"{file}.jsonl").read_text().splitlines()
    return _completed([_line(file, number, json.loads(text)) for number, text in enumerate(lines)])


def _line(file: str, number: int, raw: Json) -> Line:
    request = raw.get("request") or {}
    return Line(
        file,
        number,
        raw.get("note", ""),
        raw.get("scenario", ""),
        request.get("method", ""),
        request.get("path", ""),
        {key: str(value) for key, value in (request.get("query") or {}).items()},
        request.get("body"),
        request.get("content_type") or "application/json",
        request.get("user", ""),
        raw.get("status") or 0,
        raw.get("headers") or {},
        raw,
    )


def _completed(lines: list[Line]) -> list[Line]:
    first: dict[tuple[str, str], Any] = {}
    for line in lines:
        kind = _KINDS.get(line.path.rsplit("/", 1)[-1], "")
        if line.method != "POST" or not kind:
            continue
        place = (line.scenario, kind)
        request = line.raw["request"]
        patch = request.get("body_merge") or line.raw.get("body_merge")
        if line.body is None and place in first:
            line.body = merge_patch(first[place], patch or {})
        elif line.body is not None:
            first.setdefault(place, line.body)
    return lines
