"""Objects of a recorded story as they were at a moment, put together from its watches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.kubernetes.patches import merge_patch

Json = dict[str, Any]

OBJECTS = Path(__file__).parent / "recorded.json"
_KEPT = ("kind", "metadata", "spec", "status", "involvedObject", "reason", "message")
_METADATA = ("name", "annotations", "labels", "deletionTimestamp", "deletionGracePeriodSeconds")


def replay(file: str, story: str, name: str, until: float) -> Json:
    """Return Job, pods, events and Workload of the name, `until` seconds after the story began."""
    seen: dict[tuple[str, str], Json] = {}
    events: list[Json] = []
    for kind, event in _streamed(file, story):
        if event["t"] > until or event.get("type") == "BOOKMARK":
            continue
        if kind == "events":
            events.append(event["object"])
            continue
        key = kind, event.get("name") or event["object"]["metadata"]["name"]
        seen[key] = _next(seen.get(key, {}), event)
    job = seen.get(("jobs", name))
    pods = [pod for (kind, pod_name), pod in seen.items()
            if (kind == "pods" and pod_name.rsplit("-", 2)[0] == name) or pod_name == name
            if kind == "pods"]  # fmt: skip
    workloads = [one for (kind, one_name), one in seen.items()
                 if kind == "workloads"
                 and one_name.rsplit("-", 1)[0] == f"job-{name}"]  # fmt: skip
    names = {name} | {one["metadata"]["name"] for one in (*pods, *workloads)}
    about = [event for event in events if event["involvedObject"]["name"] in names]
    return {
        "job": _cut(job) if job else None,
        "pods": [_cut(pod) for pod in pods],
        "events": about,
        "workload": _cut(workloads[-1]) if workloads else None,
    }


def _streamed(file: str, story: str) -> list[tuple[str, Json]]:
    """Return the story's events of all its watches with their kinds, in the order of time."""
    found = []
    for text in (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        if line.get("scenario") == story and "stream" in line:
            kind = line["request"]["path"].rsplit("/", 1)[-1]
            found += [(kind, event) for event in line["stream"] if event.get("t") is not None]
    return sorted(found, key=lambda one: one[1]["t"])


def _next(known: Json, event: Json) -> Json:
    """Return the object after the event; a DELETED one stays as it was last."""
    if "object" in event:
        return dict(event["object"])
    merge = json.loads(json.dumps(event.get("merge") or {}))
    changed = (merge.get("status") or {}).pop("conditions", None)
    merged = merge_patch(known, merge)
    if changed is not None or event.get("conditions_removed"):
        status = merged.setdefault("status", {})
        rows = {row["type"]: row for row in status.get("conditions", ())}
        rows |= {row["type"]: row for row in changed or ()}
        for gone in event.get("conditions_removed") or ():
            rows.pop(gone, None)
        status["conditions"] = list(rows.values())
    return dict(merged)


def _cut(document: Json) -> Json:
    kept = {key: document[key] for key in _KEPT if document.get(key)}
    kept["metadata"] = {k: v for k, v in document["metadata"].items() if k in _METADATA}
    return kept
