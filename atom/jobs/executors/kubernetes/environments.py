"""Environments that Jobs of a cluster build in an image, kept for its own runs."""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings

from atom.accounts.models import Project
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.clusters.models import Cluster
from atom.clusters.quotas.engines.limits import PodDemand
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs.executors.base import ClusterAwayError, Environments, LaunchFailedError
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.job_ends import read_job
from atom.jobs.executors.kubernetes.engines.observations import is_over, job_is_over
from atom.jobs.executors.kubernetes.engines.wait_reasons import WaitReason
from atom.jobs.executors.kubernetes.engines.waiting import WAIT_PARTS, why_waiting
from atom.jobs.executors.kubernetes.orders import (
    BUILD_CPUS,
    BUILD_MEMORY_BYTES,
    build_order,
    build_spec,
)
from atom.jobs.executors.kubernetes.paths import AWAY, sentence_of
from atom.jobs.executors.kubernetes.submission import refusal_of, submit_job
from atom.jobs.failures.engines.failure_codes import RETRIED
from atom.jobs.failures.engines.failures import Limits
from atom.jobs.models import EnvironmentBuild, Run, Runtime
from atom.jobs.runtimes.actions import build_results, cluster_builds, cluster_runtimes

log = structlog.get_logger(__name__)

_GONE_CLUSTER = "removed"


class ClusterEnvironments(Environments):
    """Environments of runs in one registered cluster, which it has built itself."""

    def __init__(self, cluster: Cluster) -> None:
        """Serve the runs of this cluster."""
        self._cluster = cluster

    def find(self, requirements: str, image: str, project: Project) -> tuple[str, Runtime | None]:
        """Return the digest of an environment, and the environment if it is known."""
        digest = cluster_runtimes.digest_in(self._cluster, _image(image), requirements, project)
        return digest, Runtime.objects.filter(digest=digest).first()

    def ensure(self, requirements: str, image: str, project: Project) -> Runtime | None:
        """Return the environment of these requirements; without any the image is enough."""
        if not requirements.strip():
            return None
        return cluster_runtimes.ensure_runtime_in(
            self._cluster, _image(image), requirements, project
        )

    def request(self, runtime: Runtime) -> None:
        """Have an environment tried again that failed, or whose archive or image is gone."""
        cluster_runtimes.request(runtime)

    def is_ready(self, runtime: Runtime) -> bool:
        """Return whether there is an archive or an image that this cluster has built."""
        return runtime.cluster_id == self._cluster.pk and cluster_runtimes.is_ready(runtime)

    def nudge(self, run: Run, runtime: Runtime) -> None:
        """Have the environment built in the run's cluster, unless that is under way.

        A run of an earlier release may name an environment that clusters shared: it gets its own.
        """
        if runtime.cluster_id != self._cluster.pk:
            own = cluster_runtimes.ensure_runtime_in(
                self._cluster, runtime.image, runtime.requirements, run.project
            )
            run.runtime = runtime = own
            run.save(update_fields=["runtime", "updated_at"])
        namespace = names.namespace_of(self._cluster.namespace, run.project.slug)
        cluster_builds.nudge(runtime, run.project, namespace)

    def advance(self, build: EnvironmentBuild) -> None:
        """Start, verify or end a build, from its row alone."""
        if build.sent:
            cluster_builds.nudge_verify(build)
        elif build.cluster.state == _GONE_CLUSTER:
            cluster_builds.give_up(build)
        elif not build.job_uid:
            cluster_builds.nudge_start(build)
        elif _is_over(build):
            _end(build)

    def start(self, build: EnvironmentBuild) -> None:
        """Ask the cluster for the Job; one that does not answer is asked again."""
        if not build_results.settle_base(build):
            return
        try:
            with open_cluster(build.cluster) as api:
                submit_job(api, build, build_order(build))
        except LaunchFailedError as error:
            cluster_builds.fail(build, str(error))
        except ClusterForbids as error:
            cluster_builds.fail(build, sentence_of(error))
        except ClusterFails as error:
            refusal = refusal_of(error)
            if isinstance(refusal, ClusterAwayError):
                log.info("build_not_started", build=str(build.pk), why=str(refusal))
            else:
                cluster_builds.fail(build, str(refusal))
        except AWAY as error:
            log.info("build_not_started", build=str(build.pk), why=sentence_of(error))

    def spec(self, build: EnvironmentBuild) -> dict[str, Any]:
        """Return what the pod of a build gets to work with."""
        return build_spec(build)

    def waits_for(self, runtime: Runtime) -> WaitReason | None:
        """Return why the pod of the build does not run, from what the watcher last saw."""
        build = runtime.builds.filter(ended_at=None).first()
        if build is None or build.identity:
            return None
        return why_waiting(*(build.observed.get(key) for key in WAIT_PARTS))

    def build_demand(self, requirements: str, image: str, project: Project) -> PodDemand | None:
        """Return what the pod of the build would hold, None if none has to build."""
        if not requirements.strip():
            return None
        _, runtime = self.find(requirements, image, project)
        if runtime is not None and self.is_ready(runtime):
            return None
        return PodDemand(BUILD_CPUS, BUILD_MEMORY_BYTES)


def _image(image: str) -> str:
    return image or str(settings.ATOM_POD_IMAGE)


def _is_over(build: EnvironmentBuild) -> bool:
    """Return whether nothing of the Job runs any more: until then its pod may still report."""
    observed = build.observed
    if not job_is_over(observed):
        return False
    return bool(observed.get("gone")) or all(is_over(pod) for pod in observed.get("pods") or ())


def _end(build: EnvironmentBuild) -> None:
    """End a build whose pod has sent nothing; one that the cluster took away is begun again."""
    meaning = read_job(build.observed.get("job"), build.observed.get("pods") or ())
    if meaning.cause is None and not build.observed.get("gone"):
        cluster_builds.fail(build, "The pod that built the environment ended without sending it.")
        return
    limits = Limits(BUILD_MEMORY_BYTES, settings.ATOM_RUNTIME_BUILD_TIMEOUT_S, [])
    failure = None if meaning.cause is None else meaning.cause.failure(limits)
    if failure is None or failure.failure_class in RETRIED:
        cluster_builds.give_up(build)
    else:
        cluster_builds.fail(build, failure.reason)
