"""Statements that hold in each schedule, whatever fails."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from atom.jobs import states
from atom.jobs.attempts.actions.attempts import find_by_token
from atom.jobs.logs.actions import logs
from atom.jobs.models import Attempt, MetricChunk, Run
from tests.jobs.executors.kubernetes.schedules.pods import SimulatedPod

if TYPE_CHECKING:
    from tests.jobs.executors.kubernetes.schedules.simulation import Simulation

_WHOLE_LOG = 1 << 24


class Invariants:
    """Checks of one simulation; each raises AssertionError with the seed."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        # Which processes of each attempt were let start.
        self._starts: dict[str, set[str]] = defaultdict(set)

    def check_now(self) -> None:
        """Check that at most one process of a run may write, and one started each attempt."""
        holders: dict[str, list[SimulatedPod]] = defaultdict(list)
        for pod in self.simulation.pods:
            for attempt in pod.starts:
                self._starts[attempt].add(pod.uid)
            if pod.is_alive and pod.token:
                holders[pod.run].append(pod)
        # One process alone needs no look at the database.
        several = (pods for pods in holders.values() if len(pods) > 1)
        alone = all(sum(_may_write(pod) for pod in pods) < 2 for pods in several)
        self._hold(alone, "Two processes of a run write")
        self._hold(all(len(uids) < 2 for uids in self._starts.values()), "An attempt starts twice")

    def check_end(self) -> None:
        """Check the ends of the runs, what they stored, and what is left in the clusters."""
        for run in self.simulation.runs:
            self._check_run(Run.objects.get(pk=run.pk))
        for pod in self.simulation.pods:
            if pod.attempt:
                self._check_pod(pod)
        for room in self.simulation.rooms:
            left = [one["metadata"]["name"] for one in self.simulation.objects(room)]
            self._hold(not left, f"Objects are left in {room.name}: {left}")
            foreign = room.stand_in.store.get("jobs.batch", *room.foreign)
            kept = foreign is not None and "deletionTimestamp" not in foreign["metadata"]
            self._hold(kept, "A Job of another installation is gone")

    def _check_run(self, run: Run) -> None:
        cancelled = run.cancel_requested_at is not None
        good = {states.SUCCEEDED} | ({states.CANCELLED} if cancelled else set())
        self._hold(run.state in good, f"A run is lost: {run.state}, {run.failure_reason}")
        if run.state != states.SUCCEEDED:
            return
        attempt = run.attempts.get(state=states.SUCCEEDED)
        # The answer to its report may have been lost; the server has the report all the same.
        done = [pod for pod in self.simulation.pods if pod.attempt == str(attempt.pk)]
        done = [pod for pod in done if pod.told and pod.told["reason"] == "exited"]
        self._hold(len(done) == 1, "A run succeeded, and no process of it did")

    def _check_pod(self, pod: SimulatedPod) -> None:
        attempt = Attempt.objects.get(pk=pod.attempt)
        stored = b"".join(one.payload for one in logs.read(attempt, 0, _WHOLE_LOG).frames)
        written = b"".join(pod.lines)
        whole = stored == written[: len(stored)] and len(stored) >= pod.acknowledged_bytes
        self._hold(whole, f"Lines are lost or doubled: {stored!r}, {written!r}")
        rows = MetricChunk.objects.filter(series__attempt=attempt)
        count = sum(rows.values_list("n", flat=True))
        steps = max(rows.values_list("step_max", flat=True), default=-1) + 1
        self._hold(count == steps >= pod.acknowledged_batches, f"Points: {count}, {steps}")

    def _hold(self, holds: bool, text: str) -> None:
        assert holds, f"seed {self.simulation.dice.seed}: {text}"


def _may_write(pod: SimulatedPod) -> bool:
    return find_by_token(pod.token) is not None
