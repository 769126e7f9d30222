"""Sends points and progress: tails metrics.jsonl, adds the system's own points."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import disk
from .api import Api, ApiError, UnreachableError
from .config import AttemptPaths, write_bytes
from .metric_rows import Taken, points_of, rows_of, take

SEND_EVERY_S = 0.5
PROGRESS_EVERY_S = 1.0
BATCH_POINTS = 5000
TAIL_BYTES = 1024 * 1024
SYSTEM_POINTS_KEPT = 50_000
BAD_REQUEST = 400
CONFLICT = 409
# Different sentences about refused points that a log gets.
SAID_AT_MOST = 5


class MetricTail:
    """Reads whole lines of metrics.jsonl from a byte offset on."""

    def __init__(self, path: Path, offset: int) -> None:
        """Begin at `offset`."""
        self._path = path
        self.offset = offset
        self.skipped_lines = 0

    def read(self) -> Taken:
        """Return what the lines say that came since, and move on."""
        try:
            with open(str(self._path), "rb") as file:
                file.seek(self.offset)
                data = file.read(TAIL_BYTES)
        except OSError:
            return Taken()
        end = data.rfind(b"\n") + 1
        if not end and len(data) == TAIL_BYTES:
            end = len(data)  # a "line" of a megabyte is not ours
        self.offset += end
        taken = take(data[:end].splitlines())
        self.skipped_lines += taken.skipped
        return taken


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
        self._refused_points = 0
        # Hears once what is wrong with points that the server refuses.
        self.on_refused: Callable[[str], None] = lambda _: None
        self._told: set[str] = set()
        self._progress: dict[str, Any] | None = None
        self._progress_sent_s = float("-inf")

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def add(self, points: list[list[Any]]) -> None:
        """Take points [key, step, ts_ms, value] of the runner itself."""
        self._system.extend(points)

    @property
    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def finish(self, wait_s: float) -> None:
        """Send what is left and stop."""
        self._stopping.set()
        self._thread.join(wait_s)

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of sent batches, and of points and lines that could not be read."""
        return {
            "metric_batches": self._state["seq"],
            "metric_points_refused": self._refused_points,
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
        if not self._state["rows"]:
            taken = self._tail.read()
            self._progress = taken.progress or self._progress
            room = max(0, BATCH_POINTS - len(taken.rows))
            system = [self._system.popleft() for _ in range(min(room, len(self._system)))]
            self._save(self._state["seq"], b",".join([*taken.rows, *rows_of(system)]))
        if not self._state["rows"]:
            return False
        seq, rows = self._state["seq"], self._state["rows"]
        try:
            answer = self._post(seq, rows)
        except ApiError as error:
            if error.status == CONFLICT and "next_seq" in error.body:
                # Our count was lost, or the server's: its number is the one that counts.
                self._save(int(error.body["next_seq"]), rows)
                return True
            # Refused for good: it must not block the later ones.
            answer = {"next_seq": seq, "refused": len(points_of(rows)), "said": str(error)}
        self._note_refused(answer)
        self._save(int(answer.get("next_seq", seq + 1)), b"")
        return True

    def _post(self, seq: int, rows: bytes) -> dict[str, Any]:
        try:
            return self._api.post_json("metrics/", b'{"seq": %d, "rows": [%s]}' % (seq, rows))
        except ApiError as error:
            if error.status != BAD_REQUEST:
                raise
        # A server that knows no rows may still answer while another takes its place.
        return self._api.post("metrics/", {"seq": seq, "points": points_of(rows)})

    def _note_refused(self, answer: Mapping[str, Any]) -> None:
        refused, said = int(answer.get("refused") or 0), str(answer.get("said") or "")
        self._refused_points += refused
        if refused and said not in self._told and len(self._told) < SAID_AT_MOST:
            self._told.add(said)
            self.on_refused(f"Some points of metrics were refused and are not shown. {said}")

    def _send_progress(self, last: bool) -> None:
        now_s = time.monotonic()
        if self._progress and (last or now_s - self._progress_sent_s >= PROGRESS_EVERY_S):
            with contextlib.suppress(ApiError):
                self._api.post("progress/", self._progress)
            self._progress, self._progress_sent_s = None, now_s

    def _save(self, seq: int, rows: bytes) -> None:
        before = self._state
        self._state = {"seq": seq, "offset": self._tail.offset, "rows": rows}
        if self._state != before:
            form = b'{"seq": %d, "offset": %d, "rows": [%s]}'
            self._write(form % (seq, self._tail.offset, rows))

    def _write(self, state: bytes) -> None:
        """Wait while the disk refuses it; at the end go on without: the rest is still sent."""
        while True:
            try:
                write_bytes(self._state_path, state)
                return
            except OSError as error:
                if not disk.refusal(error):
                    raise
            if self._stopping.wait(disk.RETRY_S):
                return


def _load(path: Path) -> dict[str, Any]:
    """Return the state: number of the next batch, offset, and the rows of one that was not sent."""
    try:
        state = json.loads(path.read_text("utf-8"))
        # A runner of before rows left points.
        kept = [json.dumps(row).encode() for row in state.get("rows", [])]
        rows = b",".join([*kept, *rows_of(state.get("points", []))])
        return {"seq": state["seq"], "offset": state["offset"], "rows": rows}
    except (OSError, ValueError, KeyError):
        return {"seq": 0, "offset": 0, "rows": b""}
