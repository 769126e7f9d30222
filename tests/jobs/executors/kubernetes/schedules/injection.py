"""Faults that happen to processes of the server, to requests and to clusters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connection

from atom.jobs import states
from atom.jobs.models import Placement, Run
from tests.fakes.kubernetes.errors import ApiError
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault
from tests.jobs.executors.kubernetes.schedules.in_process import InProcess
from tests.jobs.executors.kubernetes.schedules.kubelets import NODES

if TYPE_CHECKING:
    from tests.jobs.executors.kubernetes.schedules.simulation import Room, Simulation

_REFUSED = {
    Fault.REFUSED_429: 429,
    Fault.REFUSED_500: 500,
    Fault.REFUSED_503: 503,
    Fault.REFUSED_504: 504,
}
# The last is any: most processes ask for few of the others.
_POSTS = ("/jobs$", "/services$", "tokenreviews", "namespaces$", "", "", "")
# No process of the server asks for more in one step, most of the time.
_MOST_STATEMENTS, _MOST_REQUESTS = 60, 8


class CutOffError(BaseException):
    """A process of the server ends here, without a word."""


class Injector:
    """Draws faults; each is counted when it is hit."""

    def __init__(self, dice: Dice, network: InProcess) -> None:
        self.dice, self.network = dice, network
        self._suspended: list[tuple[Room, str, str]] = []
        # Clusters that are away and that nothing has asked yet.
        self._unasked: set[str] = set()
        network.missed = self._count_away

    # --- processes of the server ---

    @contextmanager
    def disturbed(self) -> Iterator[None]:
        """Let what is done inside be cut off, and its requests fail, as chance has it."""
        with ExitStack() as stack:
            if self.dice.falls(0.08):
                count = self.dice.random.randint(1, _MOST_STATEMENTS)
                stack.enter_context(connection.execute_wrapper(_Cut(self.dice, count)))
            elif self.dice.falls(0.06):
                self._cut_at_request(stack)
            elif self.dice.falls(0.25):
                self._disturb_request(stack)
            yield

    def _cut_at_request(self, stack: ExitStack) -> None:
        left = self.dice.random.randint(1, 2 * _MOST_REQUESTS)

        def interrupt(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.dice.count(Fault.CUT_AT_CLUSTER)
                raise CutOffError

        self.network.interrupt = interrupt
        stack.callback(setattr, self.network, "interrupt", lambda _: None)

    def _disturb_request(self, stack: ExitStack) -> None:
        """Let one of the next requests fail in a way that is drawn."""
        kinds = (Fault.ANSWER_LOST, Fault.REQUEST_DROPPED) * 3 + tuple(_REFUSED)
        fault = self.dice.random.choice(kinds)
        posts = fault in (Fault.ANSWER_LOST, Fault.REQUEST_DROPPED)
        path = self.dice.random.choice(_POSTS)
        for stand_in in self.network.stand_ins.values():
            faults = stand_in.faults
            options: dict[str, Any] = {
                "method": "POST" if posts else "",
                "path": path if posts else "",
            }
            if fault == Fault.ANSWER_LOST:
                faults.lose_response(**options)
            elif fault == Fault.REQUEST_DROPPED:
                faults.drop_request(**options)
            else:
                faults.refuse(code=_REFUSED[fault], **options)
            stack.callback(self._count_and_clear, stand_in, fault)

    def _count_and_clear(self, stand_in: Any, fault: Fault) -> None:
        if stand_in.faults.clear_rules():
            self.dice.count(fault)

    def _count_away(self, url: str) -> None:
        if url in self._unasked:
            self._unasked.discard(url)
            self.dice.count(Fault.AWAY)

    # --- the world ---

    def disturb_world(self, simulation: Simulation) -> None:
        """Let something happen to a cluster or a run."""
        for room in simulation.rooms:
            self._disturb_room(room)
        for run in simulation.runs:
            self._disturb_run(simulation, run)

    def _disturb_room(self, room: Room) -> None:
        url = room.stand_in.url
        if url in self.network.away:
            if self.dice.falls(0.3):
                self.network.away.discard(url)
        elif self.dice.draws(Fault.AWAY, 0.05):
            self.network.away.add(url)
            self._unasked.add(url)
        self._disturb_nodes(room)
        for pod in room.kubelets.running():
            self._disturb_pod(room, pod)
        for waiting in tuple(self._suspended):
            if self.dice.falls(0.4):
                self._resume(waiting)

    def _disturb_nodes(self, room: Room) -> None:
        kubelets = room.kubelets
        for node in NODES:
            # A node matters while a process is on it.
            matters = kubelets.has_processes(node)
            if node not in kubelets.lost:
                fault, change = Fault.NODE_LOST, kubelets.lose
                falls = self.dice.draws(fault, 0.12 if matters else 0.01)
            elif self.dice.falls(0.5):
                fault, change = Fault.NODE_BACK, kubelets.bring_back
                falls = self.dice.draws(fault, 0.3)
            else:
                fault, change = Fault.NODE_GONE, kubelets.forget
                known = room.stand_in.store.get("nodes.", "", node) is not None
                falls = known and self.dice.draws(fault, 0.4)
            if falls:
                change(node)
                if matters:
                    self.dice.count(fault)

    def _disturb_pod(self, room: Room, pod: Any) -> None:
        metadata, kubelets = pod["metadata"], room.kubelets
        place = (metadata["namespace"], metadata["labels"]["batch.kubernetes.io/job-name"])
        try:
            if self.dice.draws(Fault.EVICTED_143, 0.045):
                kubelets.evict(pod, 143)
                self.dice.count(Fault.EVICTED_143)
            elif self.dice.draws(Fault.EVICTED_0, 0.05):
                kubelets.evict(pod, 0)
                self.dice.count(Fault.EVICTED_0)
            elif self.dice.hit(Fault.KILLED, 0.04):
                kubelets.pods[metadata["uid"]].kill()
            else:
                self._disturb_job(room, pod, place)
        except ApiError as failure:
            # Its Job, or a twin of this name, is there or gone already.
            if failure.code not in (404, 409):
                raise

    def _disturb_job(self, room: Room, pod: Any, place: tuple[str, str]) -> None:
        job = room.stand_in.store.get("jobs.batch", *place)
        if job is None:
            return
        if not job["spec"]["suspend"] and self.dice.hit(Fault.SUSPENDED, 0.05):
            room.stand_in.nodes.suspend(*place)
            self._suspended.append((room, *place))
        elif self.dice.draws(Fault.POD_TWICE, 0.05):
            room.kubelets.twin(pod)
            self.dice.count(Fault.POD_TWICE)
        elif self.dice.hit(Fault.JOB_VANISHED, 0.06):
            room.stand_in.store.remove("jobs.batch", place)

    def _disturb_run(self, simulation: Simulation, run: Run) -> None:
        if self.dice.draws(Fault.CANCELLED, 0.015) and simulation.cancel(run):
            self.dice.count(Fault.CANCELLED)
        if self.dice.draws(Fault.UID_FORGOTTEN, 0.05):
            # The rows of a moment before: the pod has not joined yet.
            rows = Placement.objects.filter(run=run, ended_at=None, run__state=states.SUBMITTED)
            rows = rows.exclude(job_uid="").exclude(attempts__ranks__token_hash__gt="")
            if Placement.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).update(
                job_uid="", observed={}, observed_at=None
            ):
                self.dice.count(Fault.UID_FORGOTTEN)

    def _resume(self, waiting: tuple[Room, str, str]) -> None:
        self._suspended.remove(waiting)
        room, *place = waiting
        if room.stand_in.store.get("jobs.batch", *place) is not None:
            room.stand_in.nodes.suspend(*place, suspended=False)

    def heal(self, rooms: list[Room]) -> None:
        """End all faults that last."""
        self.network.away.clear()
        for waiting in tuple(self._suspended):
            self._resume(waiting)
        for room in rooms:
            for node in tuple(room.kubelets.lost):
                room.kubelets.bring_back(node)


class _Cut:
    """Cuts a process off before its statement of this number; what it rolls back goes through."""

    def __init__(self, dice: Dice, count: int) -> None:
        self._dice, self._left = dice, count

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self._dice.count(Fault.CUT_OFF)
            raise CutOffError
        return execute(sql, params, many, context)
