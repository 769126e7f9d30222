"""Limits of a project in a cluster, as a ResourceQuota has them, and the runs that never fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atom_sdk.sentences import Sentence

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """The most that all pods of a project hold at once; None: as much as there is.

    `accelerators` has counts by the resource's name, such as nvidia.com/gpu.
    """

    cpus: int | None = None
    memory_bytes: int | None = None
    pods: int | None = None
    accelerators: Mapping[str, int] = field(default_factory=dict)

    def hard(self) -> dict[str, str]:
        """Return `spec.hard` of the ResourceQuota; empty without any limit."""
        limits = {
            "limits.cpu": self.cpus,
            "limits.memory": self.memory_bytes,
            "pods": self.pods,
            # A quota knows only requests of extended resources; they equal the limits.
            **{f"requests.{name}": count for name, count in sorted(self.accelerators.items())},
        }
        return {name: str(value) for name, value in limits.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PodDemand:
    """The resources of one pod, or of several that run together."""

    cpus: float
    memory_bytes: int
    accelerators: Mapping[str, int] = field(default_factory=dict)
    pods: int = 1

    def times(self, pods: int) -> PodDemand:
        """Return what so many pods hold together."""
        held = {name: count * pods for name, count in self.accelerators.items()}
        return PodDemand(self.cpus * pods, self.memory_bytes * pods, held, self.pods * pods)


def build_exceeds(cluster: str, limits: QuotaLimits, build: PodDemand) -> Sentence | None:
    """Return why an environment can never be built within a quota."""
    if not exceeds(limits, build):
        return None
    return Sentence(
        "clusters.quota_build",
        "The run's environment has to be built in {cluster} first, by a pod of {cpus} CPU and "
        "{gib} GiB, which is more than the project's quota there. Choose an image that has the "
        "packages, or another cluster, or ask an administrator for a larger quota.",
        cluster=cluster,
        cpus=f"{build.cpus:g}",
        gib=f"{build.memory_bytes / GIB:.0f}",
    )


def exceeds(limits: QuotaLimits, demand: PodDemand) -> dict[str, Sentence]:
    """Return why a run is larger than its quota even if nothing else runs, by field."""
    wrong: dict[str, Sentence] = {}
    if limits.cpus is not None and demand.cpus > limits.cpus:
        wrong["resources.cpus"] = Sentence(
            "clusters.quota_cpus",
            "The project's quota in this cluster has {cpus} CPUs.",
            cpus=limits.cpus,
        )
    if limits.memory_bytes is not None and demand.memory_bytes > limits.memory_bytes:
        wrong["resources.memory_bytes"] = Sentence(
            "clusters.quota_memory",
            "The project's quota in this cluster has {gib} GiB of memory.",
            gib=f"{limits.memory_bytes / GIB:.1f}",
        )
    if limits.pods is not None and demand.pods > limits.pods:
        wrong["nodes"] = Sentence(
            "clusters.quota_pods",
            "The project's quota in this cluster has {pods} pods.",
            pods=limits.pods,
        )
    for name, count in demand.accelerators.items():
        limit = limits.accelerators.get(name)
        if limit is not None and count > limit:
            wrong["resources.gpus"] = Sentence(
                "clusters.quota_accelerators",
                "The project's quota in this cluster has {count} × {resource}.",
                count=limit,
                resource=name,
            )
    return wrong
