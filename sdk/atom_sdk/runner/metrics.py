"""Sends points and progress: tails metrics.jsonl, adds the system's own points."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from .api import Api, ApiError, UnreachableError
from .config import AttemptPaths, write_json

SEND_EVERY_S = 0.5
PROGRESS_EVERY_S = 1.0
BATCH_POINTS = 5000
TAIL_BYTES = 1024 * 1024
SYSTEM_POINTS_KEPT = 50_000
CONFLICT = 409


class MetricTail:
    """Reads whole lines of metrics.jsonl from a byte offset on."""

    def __init__(self, path: Path, offset: int) -> None:
        """Begin at `offset`."""
        self._path = path
        self.offset = offset
        self.skipped_lines = 0

    def read(self) -> tuple[list[list[Any]], dict[str, Any] | None]:
        """Return (points, the newest progress) of the lines that came since, and move on."""
        try:
            with open(str(self._path), "rb") as file:
                file.seek(self.offset)
                data = file.read(TAIL_BYTES)
        except OSError:
            return [], None
        end = data.rfind(b"\n") + 1
        if not end and len(data) == TAIL_BYTES:
            end = len(data)  # a "line" of a megabyte is not ours
        self.offset += end
        points: list[list[Any]] = []
        progress = None
        for line in data[:end].splitlines():
            progress = self._take(line, points) or progress
        return points, progress

    def _take(self, line: bytes, points: list[list[Any]]) -> dict[str, Any] | None:
        try:
            row = json.loads(line)
            if "progress" in row:
                return {"fraction": float(row["progress"]), "text": str(row.get("text", ""))[:200]}
            step, ts_ms = int(row["step"]), int(row["ts_ms"])
            points.extend([str(k), step, ts_ms, number(v)] for k, v in row["values"].items())
        except (ValueError, KeyError, TypeError, AttributeError):
            self.skipped_lines += 1
        return None


class MetricSender:
    """A thread that sends one batch at a time; a batch is on disk before it is sent."""

    def __init__(self, api: Api, paths: AttemptPaths) -> None:
        """Go on from the state that an earlier runner left."""
        self._api = api
        self._state_path = paths.spool / "metrics.json"
        self._state = _load(self._state_path)
        self._tail = MetricTail(paths.metrics, self._state["offset"])
        self._system: deque[list[Any]] = deque(maxlen=SYSTEM_POINTS_KEPT)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self.refused_batches = 0
        self._progress: dict[str, Any] | None = None
        self._progress_sent_s = float("-inf")

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def add(self, points: list[list[Any]]) -> None:
        """Take points [key, step, ts_ms, value] of the runner itself."""
        self._system.extend(points)

    def finish(self, wait_s: float) -> None:
        """Send what is left and stop."""
        self._stopping.set()
        self._thread.join(wait_s)

    @property
    def counters(self) -> dict[str, int]:
        """What was sent and what could not be read."""
        return {
            "metric_batches": self._state["seq"],
            "metric_batches_refused": self.refused_batches,
            "metric_lines_skipped": self._tail.skipped_lines,
        }

    def _run(self) -> None:
        try:
            while True:
                last = self._stopping.is_set()
                sent = self._send_next()
                self._send_progress(last)
                if last and not sent:
                    return
                if not sent:
                    self._stopping.wait(SEND_EVERY_S)
        except UnreachableError:
            return

    def _send_next(self) -> bool:
        if not self._state["points"]:
            points, progress = self._tail.read()
            self._progress = progress or self._progress
            while self._system and len(points) < BATCH_POINTS:
                points.append(self._system.popleft())
            self._save(self._state["seq"], points)
        if not self._state["points"]:
            return False
        seq, points = self._state["seq"], self._state["points"]
        try:
            answer = self._api.post("metrics/", {"seq": seq, "points": points})
        except ApiError as error:
            if error.status == CONFLICT and "next_seq" in error.body:
                # Our count was lost, or the server's: its number is the one that counts.
                self._save(int(error.body["next_seq"]), points)
                return True
            answer = {"next_seq": seq}  # refused for good: it must not block the later ones
            self.refused_batches += 1
        self._save(int(answer.get("next_seq", seq + 1)), [])
        return True

    def _send_progress(self, last: bool) -> None:
        now_s = time.monotonic()
        if self._progress and (last or now_s - self._progress_sent_s >= PROGRESS_EVERY_S):
            with contextlib.suppress(ApiError):
                self._api.post("progress/", self._progress)
            self._progress, self._progress_sent_s = None, now_s

    def _save(self, seq: int, points: list[list[Any]]) -> None:
        before = dict(self._state)
        self._state = {"seq": seq, "offset": self._tail.offset, "points": points}
        if self._state != before:
            write_json(self._state_path, self._state)


def number(value: Any) -> float | str:
    """Return a finite number, or the text of one that JSON cannot hold."""
    real = float(value)
    if math.isfinite(real):
        return real
    return "NaN" if math.isnan(real) else "Infinity" if real > 0 else "-Infinity"


def _load(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text("utf-8"))
        return {"seq": state["seq"], "offset": state["offset"], "points": state["points"]}
    except (OSError, ValueError, KeyError):
        return {"seq": 0, "offset": 0, "points": []}
