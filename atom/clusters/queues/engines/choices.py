"""The queue that a project's runs use, and which of them it can never admit. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from atom.clusters.registration.engines.cluster_queues import MISSING, QUEUES
from atom_sdk.sentences import Sentence


@dataclass(frozen=True, slots=True)
class QueueChoice:
    """A ClusterQueue, and the name of the LocalQueue that leads to it.

    `uncounted` are resources that Kueue's configuration leaves out: no queue must cover them.
    """

    cluster_queue: str = ""
    local_queue: str = ""
    uncounted: tuple[str, ...] = ()

    @property
    def local_name(self) -> str:
        """Return the name of the LocalQueue in the project's namespace."""
        return self.local_queue or self.cluster_queue


@dataclass(frozen=True, slots=True)
class QueueOffer:
    """A project's queue as the last check of its cluster saw it.

    `covered` is None where that is not known. `devices` are resources that pods with accelerators
    ask for beside them.
    """

    choice: QueueChoice
    state: str = ""
    covered: frozenset[str] | None = None
    devices: tuple[str, ...] = ()

    def refusal_of(self, cluster: str, accelerators: Collection[str]) -> Sentence | None:
        """Return why the queue never admits a run that asks for these; None if it may."""
        name = self.choice.cluster_queue
        if self.state == MISSING:
            return Sentence(
                "clusters.queue_missing",
                "Cluster {cluster} has no ClusterQueue {queue}, which the project's runs use "
                "there. Choose another cluster, or ask an administrator.",
                cluster=cluster,
                queue=name,
            )
        if self.covered is None:
            return None
        asked = {"cpu", "memory", *accelerators, *(self.devices if accelerators else ())}
        lacking = sorted(asked - self.covered - set(self.choice.uncounted))
        if not lacking:
            return None
        return Sentence(
            "clusters.queue_uncovered",
            "The ClusterQueue {queue} of {cluster} has no quota of {resources}: Kueue would never "
            "start the run. Ask for less, choose another cluster, or ask an administrator.",
            queue=name,
            cluster=cluster,
            resources=", ".join(lacking),
        )


def offer_of(
    choice: QueueChoice, facts: Mapping[str, Any], devices: Collection[str] = ()
) -> QueueOffer:
    """Return a queue as the facts of its cluster's last check describe it."""
    seen = ((facts.get(QUEUES) or {}).get("cluster_queues") or {}).get(choice.cluster_queue) or {}
    covered = seen.get("covered")
    return QueueOffer(
        choice,
        str(seen.get("state") or ""),
        None if covered is None else frozenset(covered),
        tuple(sorted(devices)),
    )
