"""Ten processes to kill while runs stream in a cluster, in an order that a seed gives."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from typing import Any

import psutil

from tests.e2e import breaking
from tests.fakes.kubelet.kubelet import Kubelet
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.kills.presence import Presence
from tests.stack import Stack

# A container's first process, which supervises the attempt, and its child, which runs the command.
POD, RUNNER = "pod", "runner of a pod"
PARTS = ("clusters", "web", "gateway", "worker", "beat", "postgres", "valkey", "s3")
VICTIMS = (*PARTS, POD, RUNNER)
# The API server is away for so long.
AWAY_S = (0.5, 4.0)
PAUSE_S = (0.2, 2.0)


def order_of(rng: random.Random) -> list[str]:
    """Return all victims in a random order."""
    return rng.sample(VICTIMS, len(VICTIMS))


@dataclass
class ClusterKiller:
    """Kills processes of a stack and of a stand-in's pods."""

    stack: Stack
    stand_in: StandIn
    presence: Presence
    rng: random.Random

    def strike(self, victim: str) -> str:
        """End a process with SIGKILL, as soon as there is one; return its name and pid."""
        while True:
            pid = breaking.wait_for(lambda: self._pid_of(victim), f"{victim} runs", 300, 0.05)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                # It has ended by itself meanwhile.
                continue
            return f"{victim} ({pid})"

    def _pid_of(self, victim: str) -> int | None:
        if victim not in (POD, RUNNER):
            return self.stack.pid_of(victim)
        pids = pids_in_pods(self.stand_in, self.presence, victim)
        return self.rng.choice(pids) if pids else None

    def crash_api_server(self) -> str:
        """Let the cluster's API server be gone for some seconds; what it has stored stays."""
        away_s = self.rng.uniform(*AWAY_S)
        self.stand_in.server.crash()
        time.sleep(away_s)
        self.stand_in.server.start_again()
        return f"API server, away for {away_s:.1f} s"

    def pause(self) -> None:
        """Let runs stream for a while; at every second time, wait until one does."""
        streams = self.rng.random() < 0.5
        time.sleep(self.rng.uniform(*PAUSE_S))
        if streams:
            before = self._lines()
            breaking.wait_for(lambda: self._lines() > before, "a run streams", 300, 0.05)

    def _lines(self) -> int:
        return sum(life.line for life in list(self.presence.lives))


def pids_in_pods(stand_in: StandIn, presence: Presence, what: str) -> list[int]:
    """Return the processes of that kind in pods whose commands live, in the order of the pods."""
    alive = {life.run for life in presence.alive()}
    kubelet: Kubelet = stand_in.kubelet
    workers = [one for one in kubelet.workers() if _run_of(one.pod) in alive]
    found = []
    for worker in sorted(workers, key=lambda one: one.uid):
        process = worker.processes.get("main")
        if process is not None:
            found += [process.pid] if what == POD else _first_child(process.pid)
    return found


def _first_child(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()[:1]]
    except psutil.NoSuchProcess:
        return []


def _run_of(pod: dict[str, Any]) -> str:
    labels = pod["metadata"].get("labels") or {}
    return str(labels.get("atom.dev/run", ""))
