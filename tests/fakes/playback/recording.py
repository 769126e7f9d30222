"""A recorded scenario as changes of whole objects, in the order of their times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.kubernetes.patches import merge_patch

Json = dict[str, Any]


# Kinds that the stand-in does not serve: Atom reads none of them.
_NOT_SERVED = {"cronjobs.batch"}


@dataclass(frozen=True, slots=True)
class Change:
    """An object as it was after a change, `t` seconds after its scenario began."""

    t: float
    # The plural and the group of its kind, such as `jobs.batch`.
    kind: str
    name: str
    is_deleted: bool
    state: Json


@lru_cache(maxsize=4)
def _lines(file: str) -> tuple[Json, ...]:
    return tuple(map(json.loads, (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines()))


def scenarios(file: str) -> list[str]:
    """Return the names of a recording's scenarios, in their order."""
    return list(dict.fromkeys(str(line["scenario"]) for line in _lines(file)))


def lines_of(file: str, scenario: str) -> list[Json]:
    """Return the lines of a scenario."""
    return [line for line in _lines(file) if line["scenario"] == scenario]


def changes(file: str, scenario: str) -> list[Change]:
    """Return what the scenario's watches saw, merged to whole objects.

    Kinds that no watch followed come from the answers to reads.
    """
    lines = lines_of(file, scenario)
    watched = [
        (float(event["t"]), kind_of(line["request"]["path"]), event)
        for line in lines
        for event in line.get("stream") or ()
        if event.get("t") is not None and event.get("type") != "BOOKMARK"
    ]
    kinds = {kind for _, kind, _ in watched}
    read = [(t, kind, event) for t, kind, event in _read(lines) if kind not in kinds]
    return list(_whole(sorted(watched + read, key=lambda one: one[0])))


def _whole(events: list[tuple[float, str, Json]]) -> Iterator[Change]:
    states: dict[tuple[str, str], Json] = {}
    for number, (t, kind, event) in enumerate(events):
        metadata = (event.get("object") or {}).get("metadata") or {}
        # Events were recorded without their names.
        name = str(event.get("name") or metadata.get("name") or f"event-{number}")
        is_deleted = event.get("type") == "DELETED"
        if not is_deleted:
            states[(kind, name)] = _after(states.get((kind, name), {}), event)
        state = states.get((kind, name)) or event.get("object") or {}
        yield Change(t, kind, name, is_deleted, state)


def _read(lines: list[Json]) -> Iterator[tuple[float, str, Json]]:
    """Yield the objects that reads of the API gave, as events.

    The pending order of a queue is computed for each question: it is no object.
    """
    for line in lines:
        request, answer = line.get("request") or {}, line.get("response") or {}
        if request.get("method") != "GET" or line.get("status") != 200 or "t" not in line:
            continue
        if "/apis/visibility." in request["path"] or kind_of(request["path"]) in _NOT_SERVED:
            continue
        for one in answer.get("items") or ():
            yield float(line["t"]), kind_of(request["path"]), {"object": one}
        if (answer.get("metadata") or {}).get("name"):
            path = request["path"].rpartition("/")[0]
            yield float(line["t"]), kind_of(path), {"object": answer}


def steps(found: Iterable[Change], pause_s: float) -> list[list[Change]]:
    """Return changes in groups: a group ends where nothing happened for `pause_s` seconds."""
    groups: list[list[Change]] = []
    for change in found:
        if not groups or change.t - groups[-1][-1].t > pause_s:
            groups.append([])
        groups[-1].append(change)
    return groups


def kind_of(path: str) -> str:
    """Return the stand-in's key of the kind that a path of the API names."""
    parts = path.strip("/").split("/")
    group = "" if parts[0] == "api" else parts[1]
    return f"{parts[-1]}.{group}"


def _after(known: Json, event: Json) -> Json:
    """Return the object after an event; of conditions the recording has only those that changed."""
    if "object" in event:
        return dict(event["object"])
    merge = json.loads(json.dumps(event.get("merge") or {}))
    changed = (merge.get("status") or {}).pop("conditions", None)
    merged = dict(merge_patch(known, merge))
    if changed is None and not event.get("conditions_removed"):
        return merged
    old = (known.get("status") or {}).get("conditions") or ()
    rows = {row["type"]: row for row in old} | {row["type"]: row for row in changed or ()}
    for gone in event.get("conditions_removed") or ():
        rows.pop(gone, None)
    return merged | {"status": (merged.get("status") or {}) | {"conditions": list(rows.values())}}
