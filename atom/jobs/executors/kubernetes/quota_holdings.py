"""The part of its quota that the pods of a project hold in a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Q

from atom.clusters.models import Cluster
from atom.jobs.executors.kubernetes.engines.observations import is_over
from atom.jobs.executors.kubernetes.orders import BUILD_CPUS, BUILD_MEMORY_BYTES
from atom.jobs.models import ClusterJob, EnvironmentBuild, Placement

# A pod counts until it has ended, also when its placement is over.
_THERE = Q(removed_at=None) & ~Q(job_uid="")


@dataclass(slots=True)
class QuotaHoldings:
    """Resources of all pods of a project that have not ended, as its cluster last showed them."""

    cpus: int = 0
    memory_bytes: int = 0
    pods: int = 0
    accelerators: dict[str, int] = field(default_factory=dict)

    def add(self, pods: int, cpus: int, memory_bytes: int, accelerators: Mapping[str, int]) -> None:
        """Add pods that each hold so much."""
        self.cpus += pods * cpus
        self.memory_bytes += pods * memory_bytes
        self.pods += pods
        for name, count in accelerators.items():
            self.accelerators[name] = self.accelerators.get(name, 0) + pods * count


def holdings_in(cluster: Cluster) -> dict[str, QuotaHoldings]:
    """Return the holdings of each project (its slug) that has pods there, by name."""
    found: dict[str, QuotaHoldings] = {}
    runs = Placement.objects.filter(_THERE, cluster=cluster).select_related("run__project")
    for placement in runs:
        if pods := _pods_of(placement):
            run = placement.run
            mine = found.setdefault(run.project.slug, QuotaHoldings())
            mine.add(pods, run.cpus, run.memory_bytes, placement.accelerators)
    builds = EnvironmentBuild.objects.filter(_THERE, cluster=cluster).select_related("project")
    for build in builds:
        if pods := _pods_of(build):
            mine = found.setdefault(build.project.slug, QuotaHoldings())
            mine.add(pods, BUILD_CPUS, BUILD_MEMORY_BYTES, {})
    return dict(sorted(found.items()))


def _pods_of(job: ClusterJob) -> int:
    return sum(not is_over(pod) for pod in job.observed.get("pods") or ())
