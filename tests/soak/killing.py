"""The choice of the process to kill next, and the time until everything works again."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import psutil

from tests.kills.cluster_kills import POD, pids_in_pods
from tests.kills.cluster_kills import RUNNER as RUNNER_OF_POD
from tests.soak.streaming import Streams
from tests.stack import Stack

# How long everything may take to work again; the launcher's own pause is up to 30 s of it.
RECOVERY_S = 180.0
EVERY_S = 0.1
# How long is waited for a job to kill; one that does not come by then is struck when it comes.
JOB_S = 10.0
# Parts of the launcher's, with how often they are chosen.
PARTS = {
    **{"web": 3, "gateway": 1, "worker": 3, "beat": 1, "clusters": 2},
    **{"postgres": 2, "valkey": 2, "s3": 2},
}
# Processes that the launcher does not start itself.
CHILDREN, RUNNER, SUPERVISOR, LAUNCHER = "child of", "runner", "supervisor", "launcher"
_IN_JOBS = {RUNNER: 2, SUPERVISOR: 2}
_IN_PODS = {POD: 2, RUNNER_OF_POD: 2}
_WEIGHTS = {**PARTS, CHILDREN: 2, LAUNCHER: 0.5}
_HAVE_CHILDREN = ("worker", "postgres")


@dataclass
class Kills:
    """The killed processes, and the seconds until the stack answered as a whole again."""

    recoveries_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many were killed."""
        return sum(len(times) for times in self.recoveries_s.values())


class Killer:
    """Ends processes of one stack and its cluster, in an order that the seed gives.

    `has_people`: runs on the stack's own machine are killed too.
    """

    def __init__(self, stack: Stack, seed: int, streams: Streams, *, has_people: bool) -> None:
        self.kills = Kills()
        self._stack, self._streams = stack, streams
        jobs = _IN_JOBS if has_people else {}
        self._weights = {**_WEIGHTS, **jobs, **(_IN_PODS if streams.streamers else {})}
        self._random = random.Random(seed)
        # Jobs' processes that were to die when no job ran.
        self._due: list[str] = []

    def strike(self) -> str | None:
        """End one victim, sometimes two parts at once, and wait until everything is back.

        Returns who it was; None if there was nobody of the kind.
        """
        for what in self._due:
            if self._pids_of_jobs(what):
                self._due.remove(what)
                return self._strike_job(what)
        [what] = self._random.choices([*self._weights], [*self._weights.values()])
        if what == LAUNCHER:
            return self._strike_launcher()
        if what in {*_IN_JOBS, *_IN_PODS}:
            return self._strike_job(what)
        if what == CHILDREN:
            return self._strike_child()
        names = [what]
        if self._random.random() < 0.1:
            [other] = self._random.choices([*PARTS], [*PARTS.values()])
            names = sorted({what, other})
        return self._strike_parts(names, also_children=self._random.random() < 0.3)

    def pause(self) -> None:
        """Let the clients work for a while."""
        time.sleep(self._random.uniform(0.2, 6.0))

    def _strike_parts(self, names: list[str], *, also_children: bool) -> str | None:
        pids = [pid for name in names if (pid := self._stack.pid_of(name)) is not None]
        if len(pids) < len(names):
            return None
        victims = [
            pid for one in pids for pid in ([one, *_children(one)] if also_children else [one])
        ]
        before = {name: self._stack.restarts_of(name) for name in names}
        self._end(victims)
        self._await("+".join(names), before)
        if self._random.random() < 0.15:
            # Once more while it has only just started.
            return self._strike_parts(names, also_children=False)
        return "+".join(names)

    def _strike_child(self) -> str | None:
        name = self._random.choice(_HAVE_CHILDREN)
        pid = self._stack.pid_of(name)
        children = _children(pid) if pid else []
        if not children:
            return None
        self._end([self._random.choice(children)])
        self._await(f"{CHILDREN} {name}", {})
        return f"{CHILDREN} {name}"

    def _strike_job(self, what: str) -> str | None:
        deadline = time.monotonic() + JOB_S
        while not (found := self._pids_of_jobs(what)):
            if time.monotonic() > deadline:
                self._due.append(what)
                return None
            time.sleep(EVERY_S)
        self._end([self._random.choice(found)])
        self._await(what, {})
        return what

    def _pids_of_jobs(self, what: str) -> list[int]:
        if what in _IN_PODS:
            streams = self._streams
            return pids_in_pods(streams.stand_in, streams.presence, what)
        return [process.pid for process in _job_processes(self._stack, what)]

    def _strike_launcher(self) -> str:
        """End the launcher: the kernel ends the rest with it, as a power cut would."""
        started = time.monotonic()
        self._stack.kill_launcher()
        self._stack.start()
        self.kills.recoveries_s[LAUNCHER].append(time.monotonic() - started)
        return LAUNCHER

    def _end(self, pids: list[int]) -> None:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _await(self, name: str, restarts: dict[str, int]) -> None:
        """Wait until all parts run and answer, and note how long that took."""
        started = time.monotonic()
        while not is_whole(self._stack, restarts):
            if time.monotonic() - started > RECOVERY_S:
                self.kills.failures.append(f"{name} was not back after {RECOVERY_S:g} s")
                break
            time.sleep(EVERY_S)
        self.kills.recoveries_s[name].append(time.monotonic() - started)


def is_whole(stack: Stack, restarts: dict[str, int]) -> bool:
    """Whether every part runs and answers, and those named were restarted since."""
    if any(stack.restarts_of(name) <= count for name, count in restarts.items()):
        return False
    return all(stack.is_up(name) for name in stack.process_names()) and answers(stack)


def answers(stack: Stack) -> bool:
    """Whether the stack says that it is ready."""
    try:
        answer = httpx.get(f"{stack.base_url}/readyz", timeout=5, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code == 200


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _job_processes(stack: Stack, what: str) -> Iterator[psutil.Process]:
    """Yield the runners or supervisors of attempts of this stack."""
    below = f"{stack.home}/attempts/"
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if any(word.startswith(below) for word in words):
            is_supervisor = "supervise" in words
            if is_supervisor == (what == SUPERVISOR) and (is_supervisor or "run" in words):
                yield process
