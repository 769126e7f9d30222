"""Tries in small Jobs whether pods of a cluster reach Atom and its store, and have RDMA."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.conf import settings

from atom.clusters.engines.documents import child, rows, text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails
from atom.clusters.kubernetes.pod_address import pod_api_url
from atom.clusters.models import Cluster
from atom.clusters.registration.actions import pod_findings
from atom.clusters.registration.actions.profiles import RdmaResult, note_rdma
from atom.clusters.registration.actions.registering import open_cluster
from atom.clusters.registration.actions.stored_profiles import read_profile
from atom.clusters.registration.engines.findings import Level
from atom.clusters.registration.engines.profiles import Profile, RdmaNeed, build_profile_of
from atom.core.storage import objects
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.pod_checks import (
    API,
    LIMIT_S,
    STORE,
    CheckOrder,
    check_job,
    check_surroundings,
    judge_report,
    selector_of,
)
from atom.jobs.executors.kubernetes.engines.rdma_checks import judge_rdma, not_started
from atom.jobs.executors.kubernetes.engines.waiting import why_waiting
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.executors.kubernetes.submission import create_once
from atom_sdk.runner.build import reach_source
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_EVERY_S = 1.0
# Any answer of the store will do: an object of this name need not be there.
_ANY_KEY = "pod-check"
_URL_LIFE_S = 300
Verdict = tuple[Level, Sentence]


@dataclass(frozen=True, slots=True)
class _Report:
    """The last words of a pod that has ended."""

    text: str
    exit_code: object
    node: str


def try_pod(cluster_id: UUID, asked_at: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Start a pod, write what it reports as the cluster's finding, and remove it.

    A second pod tries RDMA if the profile names it and the first one succeeded. Does nothing for a
    try that is over, or that another one has replaced.
    """
    cluster = Cluster.objects.present().filter(pk=cluster_id).first()
    if cluster is None or not pod_findings.is_pending(cluster_id, asked_at):
        return
    profile = read_profile(cluster)
    order = _order_of(cluster, profile)
    try:
        with open_cluster(cluster) as api:
            begun = (api, cluster_id, asked_at, pause)
            level, said = _reached(_Try(order, *begun).run(), order)
            if level == "ok" and profile.rdma is not None:
                _try_rdma(_Try(_rdma_order(order, profile.rdma), *begun), profile.rdma)
    except (*AWAY, ClusterFails) as error:
        level, said = "fail", _refused(sentence_of(error))
    pod_findings.note(cluster_id, asked_at, level, said)
    log.info("pod_tried", cluster=cluster.name, level=level)


def _order_of(cluster: Cluster, profile: Profile) -> CheckOrder:
    return CheckOrder(
        name=_new_name(),
        namespace=cluster.namespace,
        image=settings.ATOM_POD_IMAGE,
        source=reach_source(),
        addresses={
            API: f"{pod_api_url()}/api/v1/state/",
            STORE: objects().presign_get(_ANY_KEY, _URL_LIFE_S),
        },
        profile=build_profile_of(profile),
    )


def _rdma_order(order: CheckOrder, need: RdmaNeed) -> CheckOrder:
    profile = replace(order.profile, devices={need.resource: need.count})
    return replace(order, name=_new_name(), addresses={}, profile=profile)


def _new_name() -> str:
    return f"atom-pod-check-{uuid4().hex[:12]}"


def _reached(report: _Report | Sentence, order: CheckOrder) -> Verdict:
    if isinstance(report, _Report):
        return judge_report(report.text, order, report.exit_code)
    return "warn", Sentence(
        "clusters.pod_not_started",
        "The pod gave no report within {seconds} s. {said}",
        seconds=LIMIT_S,
        said=str(report),
    )


def _try_rdma(trial: _Try, need: RdmaNeed) -> None:
    """Keep whether RDMA is on; one pod tells for all nodes."""
    try:
        report = trial.run()
    except (*AWAY, ClusterFails) as error:
        report = Sentence("clusters.rdma_said", "{said}", said=sentence_of(error))
    if isinstance(report, _Report):
        passed, reason = judge_rdma(report.text, need, report.exit_code, report.node)
        result = RdmaResult(need, passed, reason, report.node)
    else:
        result = RdmaResult(need, passed=False, reason=not_started(need, report))
    if pod_findings.is_pending(trial.cluster_id, trial.asked_at):
        note_rdma(trial.cluster_id, result)


def _refused(said: str) -> Sentence:
    return Sentence(
        "clusters.pod_refused", "The cluster did not take the Job of a pod: {said}", said=said
    )


class _Try:
    """One pod: its Job from its creation to its removal."""

    def __init__(
        self,
        order: CheckOrder,
        api: ClusterConnection,
        cluster_id: UUID,
        asked_at: str,
        pause: Callable[[float], None],
    ) -> None:
        self.api, self.order, self.pause = api, order, pause
        self.cluster_id, self.asked_at = cluster_id, asked_at
        self.waits_for: Sentence | None = None

    def run(self) -> _Report | Sentence:
        """Return the report of the pod, or why there is none within the limit."""
        for one in check_surroundings(self.order.namespace):
            create_once(self.api, one)
        job = self.api.post(path_of("Job", self.order.namespace), check_job(self.order)).body
        try:
            return self._wait(job)
        finally:
            self._remove(str(job["metadata"]["uid"]))

    def _wait(self, job: dict[str, Any]) -> _Report | Sentence:
        ends_at_s = time.monotonic() + LIMIT_S
        for _ in range(int(LIMIT_S / _EVERY_S)):
            if time.monotonic() > ends_at_s:
                break
            pods = self._pods()
            if report := self._report(pods):
                return report
            self._tell(job, pods)
            self.pause(_EVERY_S)
        return self.waits_for or Sentence("clusters.pod_silent", "It gave no report.")

    def _report(self, pods: list[dict[str, Any]]) -> _Report | None:
        for pod in pods:
            for status in rows(pod, "status", "containerStatuses"):
                ended = child(status, "state").get("terminated")
                if isinstance(ended, dict):
                    said = text(ended, "message") or self._log(pod)
                    return _Report(said, ended.get("exitCode"), text(pod, "spec", "nodeName"))
        return None

    def _tell(self, job: dict[str, Any], pods: list[dict[str, Any]]) -> None:
        """Write why the pod does not run yet, if that is news."""
        waiting = why_waiting(job, pods, self._events(pods))
        said = waiting.sentence if waiting else Sentence("clusters.pod_runs", "The pod runs.")
        if self.waits_for is not None and str(said) == str(self.waits_for):
            return
        self.waits_for = said
        telling = Sentence("clusters.pod_under_way", "A pod is being tried. {said}", said=str(said))
        pod_findings.note(self.cluster_id, self.asked_at, "warn", telling, under_way=True)

    def _pods(self) -> list[dict[str, Any]]:
        query = {"labelSelector": selector_of(self.order)}
        items = self.api.get(path_of("Pod", self.order.namespace), query).body.get("items")
        return [one for one in items or () if isinstance(one, dict)]

    def _events(self, pods: list[dict[str, Any]]) -> list[dict[str, Any]]:
        path = f"/api/v1/namespaces/{self.order.namespace}/events"
        found: list[dict[str, Any]] = []
        for name in [self.order.name, *(text(pod, "metadata", "name") for pod in pods)]:
            query = {"fieldSelector": f"involvedObject.name={name}"}
            try:
                found += self.api.get(path, query).body.get("items") or ()
            except AWAY:
                # The pod's own status says less, and enough.
                return found
        return found

    def _log(self, pod: dict[str, Any]) -> str:
        path = f"{path_of('Pod', self.order.namespace)}/{text(pod, 'metadata', 'name')}/log"
        try:
            return self.api.text(path, {"container": names.MAIN, "tailLines": 20})
        except AWAY:
            return ""

    def _remove(self, uid: str) -> None:
        try:
            self.api.delete(f"{path_of('Job', self.order.namespace)}/{self.order.name}", uid=uid)
        except AWAY as error:
            # Its own time limit ends it, and its time to live removes it.
            log.info("pod_check_not_removed", job=self.order.name, why=sentence_of(error))
