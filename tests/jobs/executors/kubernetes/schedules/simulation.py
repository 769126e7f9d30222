"""One schedule: clusters, runs, processes and faults in one thread, in an order made from a seed.

Each actor of the installation (the reconciler, workers, watchers, pods, kubelets, controllers) is a
step that the simulation takes when chance says so. The code of the server and `ClusterConnection`
are the real ones. Time passes between steps only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from uuid import UUID

from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import ClusterOptions, Credentials, register
from atom.core.errors import AtomError
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.launch import launch
from atom.jobs.attempts.actions.looks import runs_to_look_at
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.executors.kubernetes.watching import sync_cluster
from atom.jobs.logs.actions import logs
from atom.jobs.models import Placement, Run
from atom.jobs.scheduling.actions.in_clusters import waiting_for_clusters
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault
from tests.jobs.executors.kubernetes.schedules.in_process import InProcess
from tests.jobs.executors.kubernetes.schedules.injection import CutOffError, Injector
from tests.jobs.executors.kubernetes.schedules.kubelets import Kubelets
from tests.jobs.executors.kubernetes.schedules.late_watchers import LateWatchers
from tests.jobs.executors.kubernetes.schedules.pods import SimulatedPod
from tests.jobs.executors.kubernetes.schedules.simulated_time import Clock

ROUNDS_WITH_FAULTS = 20
MOST_ROUNDS = 250
# No schedule may run out of retries by chance.
MANY_RETRIES = 1000


class Room:
    """A stand-in that is registered, and its nodes."""

    def __init__(self, name: str, clock: Clock, network: InProcess, dice: Dice, send: Any) -> None:
        self.stand_in = StandIn(clock=clock, tls=True).start_by_hand()
        network.add(self.stand_in)
        self.kubelets = Kubelets(self.stand_in, dice, send)
        self.stand_in.step()
        self.foreign = self._make_foreign_job()
        self.name = name
        self.cluster: Cluster

    def _make_foreign_job(self) -> tuple[str, str]:
        """Make a Job of another installation, which waits; return its place."""
        container = {"name": "main", "image": "train:1"}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        labels = {names.INSTALLATION: "another"}
        metadata = {"name": "theirs", "labels": labels}
        body = {"metadata": metadata, "spec": {"suspend": True, "template": template}}
        self.stand_in.create("jobs.batch", body, "default")
        return "default", "theirs"

    def register(self, actor: User) -> None:
        """Register it."""
        credentials = Credentials(kubeconfig=self.stand_in.kubeconfig())
        self.cluster = register(self.name, credentials, ClusterOptions(), actor)
        assert self.cluster.state == "ready", self.cluster.findings


class Simulation:
    """A schedule; `play` runs it to its end, and `pods` and `rooms` show what happened."""

    def __init__(self, dice: Dice, clock: Clock, network: InProcess, tasks: deque[Any]) -> None:
        self.dice, self.clock, self.network, self.tasks = dice, clock, network, tasks
        self.injector = Injector(self.dice, network)
        self.runs: list[Run] = []
        self.rooms: list[Room] = []
        self.watch: Callable[[], None] = lambda: None

    @property
    def pods(self) -> list[SimulatedPod]:
        """Return all processes that ever were."""
        return [pod for room in self.rooms for pod in room.kubelets.pods.values()]

    @contextmanager
    def world(self, actor: User, project: Project) -> Iterator[None]:
        """Make clusters and runs; the clusters go at the end."""
        choose = self.dice.random
        self.client = APIClient()
        self.client.force_authenticate(actor)
        with ExitStack() as stack:
            for number in range(choose.choice((1, 1, 2))):
                name = f"c{self.dice.seed}-{number}"
                room = Room(name, self.clock, self.network, self.dice, self._as_web)
                stack.callback(room.stand_in.stop)
                room.register(actor)
                self.rooms.append(room)
            self.late = LateWatchers(self.dice)
            for _ in range(choose.choice((1, 1, 2, 4))):
                cluster = choose.choice(self.rooms).cluster
                fields: dict[str, Any] = {"command": ["true"], "max_retries": MANY_RETRIES}
                self.runs.append(make_run(project, cluster=cluster, **fields))
            yield

    # --- the order of steps ---

    def play(self) -> None:
        """Take steps with faults, then without, until all runs are over and all is removed."""
        for number in range(MOST_ROUNDS):
            if number == ROUNDS_WITH_FAULTS:
                self._heal()
            self._round()
            if self._is_over():
                self._heal()
                return
        raise AssertionError(f"The schedule does not end: {self._describe()}")

    def _round(self) -> None:
        choose = self.dice.random
        steps: list[Callable[[], None]] = [self._pods_speak, self._kubelets, self._controllers]
        steps += [self._reconcile, self._tasks, self._watchers, self._flush]
        steps += [self._remove] if choose.random() < 0.4 or self.dice.calm else []
        choose.shuffle(steps)
        for step in steps:
            step()
            self.watch()
        self.injector.disturb_world(self)
        # Without faults there is mostly something to wait for.
        self.clock.advance(choose.choice((3.0, 12.0) if self.dice.calm else (0.3, 1.0, 3.0, 12.0)))

    def _heal(self) -> None:
        self.dice.calm = True
        self.injector.heal(self.rooms)

    def _is_over(self) -> bool:
        if any(self.objects(room) for room in self.rooms):
            return False
        mine = Run.objects.filter(pk__in=self._run_ids())
        left = Placement.objects.filter(run__in=self._run_ids(), removed_at=None)
        return not mine.exclude(state__in=states.TERMINAL).exists() and not left.exists()

    def objects(self, room: Room) -> list[Any]:
        """Return what runs left in a cluster."""
        store = room.stand_in.store
        kinds = ("jobs.batch", "pods.", "services.")
        found = [one for kind in kinds for one in store.objects(kind)]
        return [one for one in found if names.PLACEMENT in (one["metadata"].get("labels") or {})]

    def _run_ids(self) -> list[UUID]:
        return [run.pk for run in self.runs]

    def _describe(self) -> str:
        rows = Run.objects.filter(pk__in=self._run_ids()).values_list("state", "failure_reason")
        left = [one["metadata"]["name"] for room in self.rooms for one in self.objects(room)]
        return f"seed {self.dice.seed}: {list(rows)}, left: {left}, pods: " + ", ".join(
            f"{pod.stage}/{pod.exit_code}" for pod in self.pods
        )

    # --- processes of the server ---

    def process(self, work: Callable[[], Any]) -> Any:
        """Let a process of the server do something; it may be cut off. Return its result."""
        try:
            with self.injector.disturbed():
                return work()
        except CutOffError:
            return None

    def _as_web(self, send: Callable[[], Any]) -> Any:
        return self.process(send)

    def _reconcile(self) -> None:
        for pk in dict.fromkeys([*runs_to_look_at(), *waiting_for_clusters()]):
            self.process(partial(reconcile.advance, pk))

    def _tasks(self) -> None:
        waiting = list(self.tasks)
        self.tasks.clear()
        for task, arguments in waiting:
            if not task.name.startswith("jobs."):
                continue
            if self.dice.hit(Fault.TASK_LOST, 0.1):
                continue
            if task.name == "jobs.launch_attempt":
                for _ in range(2 if self.dice.hit(Fault.TASK_TWICE, 0.1) else 1):
                    self.process(partial(launch, UUID(arguments[0])))
            elif task.name == "jobs.flush_log":
                self.process(partial(logs.flush, UUID(arguments[0])))

    def _flush(self) -> None:
        for stream in logs.streams_due():
            self.process(partial(logs.flush, stream.attempt_id))

    def _watchers(self) -> None:
        for room in self.rooms:
            if self.dice.random.random() < 0.6 or self.dice.calm:
                self.process(partial(self._sync, room.cluster))

    def _sync(self, cluster: Cluster) -> None:
        try:
            self.late.step(cluster)
            sync_cluster(cluster)
        except AtomError:
            # Unreachable: what was seen stands.
            return

    def _remove(self) -> None:
        self.process(remove_ended)

    # --- clusters ---

    def _pods_speak(self) -> None:
        for room in self.rooms:
            room.kubelets.speak(self.clock().timestamp())

    def _kubelets(self) -> None:
        for room in self.rooms:
            room.kubelets.step()

    def _controllers(self) -> None:
        for room in self.rooms:
            room.stand_in.step()

    def cancel(self, run: Run) -> bool:
        """Ask to cancel a run; return whether the server took it."""
        answer = self.client.post(f"/api/v1/runs/{run.pk}/cancel/")
        return bool(answer.status_code in (200, 202, 204))
