"""The threads that report, started and ended together."""

from __future__ import annotations

import json
import time
from typing import Any, Union

from .api import Api, ApiError, RevokedError, UnreachableError
from .config import AttemptPaths, Job, write_json
from .disk import suppressing_refusals
from .evidence import storable
from .heartbeat import Heartbeat
from .log_sender import LogSender
from .metrics import MetricSender
from .spool import Spool
from .uploads import OutputSync

# How long the log stays open for the server's word about the last points.
LAST_POINTS_S = 10.0
# Waits are cut into slices, because a signal may bring the end nearer.
SLICE_S = 0.2
LEAST_REPORT_S = 1.0


_Sender = Union[LogSender, MetricSender, OutputSync]  # noqa: UP007 - Python 3.8 reads it


class Reporting:
    """Everything between an attempt's folder and the server."""

    def __init__(self, job: Job, paths: AttemptPaths, phase: str) -> None:
        """Open the spool and connect nothing yet."""
        self._paths = paths
        self._report_s = job.limits.report_s
        self._ends_at_s = float("inf")
        self.api = Api(job.api_url, paths.token.read_text("utf-8").strip())
        self.spool = Spool(paths.spool, job.limits.spool_bytes)
        self.heartbeat = Heartbeat(self.api, paths.root, job.limits.heartbeat_s, phase)
        self.logs = LogSender(self.api, self.spool)
        self.metrics = MetricSender(self.api, paths)
        self.outputs = OutputSync(self.api, paths)

    def start(self) -> None:
        """Start all threads."""
        self.heartbeat.start()
        self.logs.start()
        self.metrics.start()
        self.outputs.start()

    def finish(self, report: dict[str, Any]) -> bool:
        """Send all that is left, the exit report last; return whether the server has it.

        The report is on disk first, if that takes it, so a runner that dies here is not taken for
        a lost one.
        """
        report["counters"] = self.counters()
        self._note(storable(report))
        self.finish_by(time.monotonic() + self._report_s)
        # Send the last points first, so that the log can still name their errors.
        self._finish(self.metrics, min(LAST_POINTS_S, self._report_s))
        self.spool.close()
        self._finish(self.outputs)
        self._finish(self.metrics)
        logs_sent = self._finish(self.logs) and self.logs.finish(0.0)
        report["counters"] = {**self.counters(), "log_complete": logs_sent}
        if self.outputs.failed:
            report["evidence"]["outputs_failed"] = dict(sorted(self.outputs.failed.items())[:20])
        # The name of a file that failed may be no text at all.
        reported = self._send_report(storable(report), max(LEAST_REPORT_S, self._left_s()))
        self.heartbeat.finish()
        self.api.abandon()
        return reported

    def finish_by(self, ends_at_s: float) -> None:
        """Send until then at the latest (monotonic seconds); an earlier end stays."""
        self._ends_at_s = min(self._ends_at_s, ends_at_s)

    def _left_s(self) -> float:
        return max(0.0, self._ends_at_s - time.monotonic())

    def _finish(self, sender: _Sender, most_s: float = float("inf")) -> bool:
        """Wait for a sender's end; return whether it ended in time."""
        ends_at_s = time.monotonic() + most_s
        while True:
            left_s = min(self._left_s(), ends_at_s - time.monotonic())
            sender.finish(max(0.0, min(SLICE_S, left_s)))
            if sender.is_done or left_s <= 0:
                return sender.is_done

    def counters(self) -> dict[str, Any]:
        """The amounts that were sent so far."""
        return {
            "log_bytes": self.spool.end,
            "log_lines": self.spool.lines,
            **self.metrics.counters,
            **self.outputs.counters,
        }

    def _send_report(self, report: dict[str, Any], wait_s: float) -> bool:
        try:
            self.api.post("exit/", report, deadline_s=wait_s)
        except RevokedError:
            return True  # the attempt was ended without us: nobody wants to know
        except (ApiError, UnreachableError):
            return False
        self._note({**report, "reported": True})
        return True

    def _note(self, report: dict[str, Any]) -> None:
        with suppressing_refusals():
            write_json(self._paths.exit_report, report)


def earlier_report(paths: AttemptPaths) -> dict[str, Any] | None:
    """Return the exit report that an earlier runner of this attempt wrote."""
    try:
        report = json.loads(paths.exit_report.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None
