"""Tells at the end of a run on several workers which tests are slowest and who waited."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import pytest

SLOWEST = 10
_SHORTEST_NAMED_S = 1.0


@dataclass
class WorkerTime:
    """The time of one worker, in seconds."""

    begun_at: float = float("inf")
    ended_at: float = 0.0
    busy_s: float = 0.0
    tests: int = 0


@dataclass(eq=False)
class Timing:
    """Adds up setup, call and teardown of each test, and what each worker did."""

    tests: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    workers: dict[str, WorkerTime] = field(default_factory=lambda: defaultdict(WorkerTime))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of a test for the worker that ran it."""
        node = getattr(report, "node", None)
        if node is None:
            return
        name = str(node.gateway.id)
        self.tests[report.nodeid, name] += report.duration
        worker = self.workers[name]
        worker.begun_at = min(worker.begun_at, report.start)
        worker.ended_at = max(worker.ended_at, report.stop)
        worker.busy_s += report.duration
        worker.tests += report.when == "setup"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the slowest tests and the idle share of each worker."""
        if not self.workers:
            return
        terminalreporter.section("slowest tests")
        for line in self.slowest():
            terminalreporter.write_line(line)
        terminalreporter.section("workers")
        for line in self.shares():
            terminalreporter.write_line(line)

    def slowest(self) -> list[str]:
        """Return a line for each of the slowest tests, in seconds with setup and teardown."""
        longest = sorted(self.tests.items(), key=lambda entry: -entry[1])[:SLOWEST]
        return [
            f"{seconds:7.1f} s  {worker:4}  {test}"
            for (test, worker), seconds in longest
            if seconds >= _SHORTEST_NAMED_S
        ]

    def shares(self) -> list[str]:
        """Return a line for each worker; idle is what it waits from the first test to the last."""
        begun_at = min(worker.begun_at for worker in self.workers.values())
        span_s = max(max(worker.ended_at for worker in self.workers.values()) - begun_at, 1e-9)
        return [
            f"{name:4}  {worker.tests:5} tests  {worker.busy_s:7.1f} s busy  "
            f"{max(0.0, 1 - worker.busy_s / span_s):6.1%} idle  "
            f"last test ended at {worker.ended_at - begun_at:.0f} s of {span_s:.0f} s"
            for name, worker in sorted(self.workers.items())
        ]
