"""A run whose Job goes as a recorded one went; its runner does what ours does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import reconcile, states
from atom.jobs.executors import executor_in
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.models import Attempt, Placement, Run
from tests.factories.jobs import make_run
from tests.fakes.playback.player import Player
from tests.fakes.playback.recording import Change, changes, steps
from tests.jobs.executors.kubernetes.world import World

Json = dict[str, Any]

# Job controllers gather changes for a second: what comes within a part of that is one step.
PAUSE_S = 0.4
_SIGTERM = 143


@dataclass
class PlayedRun:
    """One run of Atom in the place of one recorded Job."""

    world: World
    run: Run
    placement: Placement
    # Attempt, phase and kind of wait, each time that one of them changed.
    seen: list[str] = field(default_factory=list)
    _tokens: dict[str, str] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)

    @classmethod
    def submit(cls, world: World, project: Project, nodes: int = 1) -> PlayedRun:
        """Submit a run whose Job waits for what is played."""
        asked: Json = {"cluster": world.cluster, "state": states.QUEUED, "nodes": nodes}
        run = make_run(project, command=["true"], max_retries=0, **asked)
        return cls(world, run, world.submit(run))

    def go(self, scenario: str, job: str, file: str = "kueue") -> list[str]:
        """Play the whole scenario and return what was seen."""
        found = changes(file, scenario)
        jobs = {job: self.placement.job_name}
        player = Player(self.world.stand_in, found, self.placement.namespace, jobs)
        has_pods = any(change.kind == "pods." for change in found)
        for group in steps(found, PAUSE_S):
            for change in group:
                if not has_pods and _is_complete(change):
                    # Without pods there is no runner that could have reported its success.
                    continue
                player.play([change])
                if change.kind == "pods.":
                    self._act_all()
            self._step()
        return self.seen

    @property
    def ends(self) -> list[str]:
        """Return the classes of the failures of all attempts, "" for one that has none."""
        return [one.failure_class for one in self.run.attempts.order_by("number")]

    def _act_all(self) -> None:
        for pod in self.world.pods(self.placement):
            self._act(pod)

    def _step(self) -> None:
        if self.run.nodes > 1:
            # Ranks that wait for each other ask again.
            self._act_all()
        self.world.sync()
        # Before the reconciler acts: reasons are those that a person would be shown.
        self._look()
        state = reconcile.advance(self.run.pk)
        if state == states.FINALIZING:
            state = reconcile.advance(self.run.pk)
        if state == states.RETRY_WAIT:
            Run.objects.filter(pk=self.run.pk).update(retry_at=None)
            self.placement = self.world.submit(self.run)
        self._look()

    def _look(self) -> None:
        attempt = self.run.attempts.select_related("placed_in").order_by("-number").first()
        assert attempt is not None
        executor = executor_in(self.world.cluster)
        wait = executor.waits_for(attempt)
        words = [f"{attempt.number}", f"{executor.phase_of(attempt)}", wait.code if wait else "-"]
        line = " ".join(words)
        if not self.seen or self.seen[-1] != line:
            self.seen.append(line)

    # --- the runner ---

    def _act(self, pod: Json) -> None:
        """Let the runner in a pod of the run join, start its command and report its end."""
        metadata = pod["metadata"]
        index = (metadata.get("annotations") or {}).get(names.JOB_INDEX)
        main = _main_state(pod)
        uid = str(metadata["uid"])
        ranks = [str(rank) for rank in range(self.run.nodes)]
        if index not in ranks or uid in self._ended:
            return
        if "running" in main and uid not in self._tokens:
            self._join(pod, uid)
        if "terminated" in main and uid in self._tokens:
            self._ended.add(uid)
            self._report(self._tokens[uid], main["terminated"].get("exitCode"))

    def _join(self, pod: Json, uid: str) -> None:
        rank = int(pod["metadata"]["annotations"][names.JOB_INDEX])
        answer = self.world.join(self.placement, pod, rank=rank).json()
        if answer["answer"] == "start":
            self._tokens[uid] = answer["token"]
            self._post("started/", {"pid": 1}, answer["token"])

    def _report(self, token: str, exit_code: int | None) -> None:
        """Report the end as our runner does; other codes are those of a runner that was killed."""
        if exit_code == _SIGTERM:
            report: Json = {"reason": "preempted", "signal": 15}
        elif exit_code == 0 and not self._is_stopping():
            report = {"reason": "exited", "exit_code": 0}
        else:
            return
        self._post("exit/", report, token)
        self._post("logs/eof/", {"bytes": 0}, token)

    def _is_stopping(self) -> bool:
        """Return whether the program was asked to end: then its 0 proves nothing."""
        job = self.world.stand_in.store.get(
            "jobs.batch", self.placement.namespace, self.placement.job_name
        )
        return bool(job and job["spec"].get("suspend"))

    def _post(self, path: str, body: Json, token: str) -> None:
        client = APIClient(headers={"Authorization": f"Bearer {token}"})
        answer = client.post(f"/api/v1/runner/{path}", body, format="json")
        assert answer.status_code in (200, 204), answer.content


def _is_complete(change: Change) -> bool:
    conditions = (change.state.get("status") or {}).get("conditions") or ()
    ends = {"SuccessCriteriaMet", "Complete"}
    return change.kind == "jobs.batch" and any(row["type"] in ends for row in conditions)


def _main_state(pod: Json) -> Json:
    rows = pod["status"].get("containerStatuses") or ()
    found = [row.get("state") or {} for row in rows if row["name"] == names.MAIN]
    return dict(found[0]) if found else {}


def last_attempt(run: Run) -> Attempt:
    """Return the newest attempt of a run."""
    found = run.attempts.order_by("-number").first()
    assert found is not None
    return found
