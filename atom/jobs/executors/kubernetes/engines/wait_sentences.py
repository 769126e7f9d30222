"""Sentences of the waits of a Job of Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom_sdk.sentences import Sentence


def _quota_exceeded(params: Mapping[str, Any]) -> Sentence:
    if "resource" not in params:
        return Sentence(
            "jobs.wait_quota_exceeded",
            "The quota {quota} of its namespace is used up: {said}",
            **params,
        )
    return Sentence(
        "jobs.wait_quota_used",
        "The quota {quota} of its namespace is used up: {used} of {limit} {resource} are used, and "
        "it asks for {asked}.",
        **params,
    )


# Each takes the parameters of a wait, which must have those that its text names.
SENTENCES: Final[Mapping[WaitCode, Callable[[Mapping[str, Any]], Sentence]]] = {
    WaitCode.UNSCHEDULABLE_RESOURCES: lambda params: Sentence(
        "jobs.wait_unschedulable_resources",
        "None of the {total} machines has enough free: {resources}. Machines by reason: {said}",
        **params,
    ),
    WaitCode.UNSCHEDULABLE: lambda params: Sentence(
        "jobs.wait_unschedulable",
        "None of the {total} machines takes it. Machines by reason: {said}",
        **params,
    ),
    WaitCode.UNSCHEDULABLE_OTHER: lambda params: Sentence(
        "jobs.wait_unschedulable_other", "The cluster finds no machine for it: {said}", **params
    ),
    WaitCode.SCHEDULING_GATED: lambda params: Sentence(
        "jobs.wait_scheduling_gated", "Its scheduling is held back by: {gates}.", **params
    ),
    WaitCode.TO_BE_SCHEDULED: lambda params: Sentence(
        "jobs.wait_to_be_scheduled", "The cluster is choosing a machine for {pod}.", **params
    ),
    WaitCode.VICTIMS_RUN: lambda params: Sentence(
        "jobs.wait_victims_run",
        "Its place is taken from other work, which is still ending there.",
        **params,
    ),
    WaitCode.IMAGE_PULL: lambda params: Sentence(
        "jobs.wait_image_pull", "The image {image} cannot be pulled: {said}", **params
    ),
    WaitCode.IMAGE_NAME: lambda params: Sentence(
        "jobs.wait_image_name", "The image name {image} is not valid: {said}", **params
    ),
    WaitCode.CONFIG_MISSING: lambda params: Sentence(
        "jobs.wait_config_missing",
        "The container {container} lacks its configuration: {said}",
        **params,
    ),
    WaitCode.CONTAINER_NOT_STARTED: lambda params: Sentence(
        "jobs.wait_container_not_started",
        "The container {container} cannot be started: {said}",
        **params,
    ),
    WaitCode.VOLUME: lambda params: Sentence(
        "jobs.wait_volume", "The volume {volume} cannot be mounted: {said}", **params
    ),
    WaitCode.VOLUME_MISSING: lambda params: Sentence(
        "jobs.wait_volume_missing", "The volume {volume} does not exist.", **params
    ),
    WaitCode.INIT_CONTAINER: lambda params: Sentence(
        "jobs.wait_init_container", "It is being prepared by the container {container}.", **params
    ),
    WaitCode.STARTING: lambda params: Sentence(
        "jobs.wait_starting", "The machine {node} is starting it.", **params
    ),
    WaitCode.QUOTA_EXCEEDED: _quota_exceeded,
    WaitCode.WEBHOOK: lambda params: Sentence(
        "jobs.wait_webhook",
        "The admission webhook {webhook} of the cluster refuses it: {said}",
        **params,
    ),
    WaitCode.PODS_REFUSED: lambda params: Sentence(
        "jobs.wait_pods_refused", "The cluster refuses to create its pods: {said}", **params
    ),
    WaitCode.PODS_TO_BE_CREATED: lambda params: Sentence(
        "jobs.wait_pods_to_be_created", "The cluster has not created its pods yet.", **params
    ),
    WaitCode.SUSPENDED: lambda params: Sentence(
        "jobs.wait_suspended", "Its Job is suspended.", **params
    ),
    WaitCode.KUEUE_QUOTA: lambda params: Sentence(
        "jobs.wait_kueue_quota", "It waits for free quota: {said}", **params
    ),
    WaitCode.KUEUE_NEVER_FITS: lambda params: Sentence(
        "jobs.wait_kueue_never_fits",
        "It asks for more than its queue may ever use: {said}",
        **params,
    ),
    WaitCode.KUEUE_NO_FLAVOR: lambda params: Sentence(
        "jobs.wait_kueue_no_flavor", "No kind of machine of its queue fits: {said}", **params
    ),
    WaitCode.KUEUE_GATED: lambda params: Sentence(
        "jobs.wait_kueue_gated", "Its admission is held back until Atom is ready: {said}", **params
    ),
    WaitCode.KUEUE_MISCONFIGURED: lambda params: Sentence(
        "jobs.wait_kueue_misconfigured", "Its queue is not set up: {said}", **params
    ),
    WaitCode.KUEUE_INACTIVE: lambda params: Sentence(
        "jobs.wait_kueue_inactive", "Its queue admits nothing now: {said}", **params
    ),
    WaitCode.KUEUE_PREEMPTING: lambda params: Sentence(
        "jobs.wait_kueue_preempting",
        "Other work is being stopped to make room for it: {said}",
        **params,
    ),
    WaitCode.KUEUE_PREEMPTED: lambda params: Sentence(
        "jobs.wait_kueue_preempted",
        "It was stopped for other work and waits for its turn: {said}",
        **params,
    ),
    WaitCode.KUEUE_PODS_READY: lambda params: Sentence(
        "jobs.wait_kueue_pods_ready",
        "It was not ready in time, or waits for work that is not ready: {said}",
        **params,
    ),
    WaitCode.KUEUE_TOPOLOGY: lambda params: Sentence(
        "jobs.wait_kueue_topology", "No group of near machines has room for it: {said}", **params
    ),
    WaitCode.KUEUE_DEACTIVATED: lambda params: Sentence(
        "jobs.wait_kueue_deactivated", "Its queue has put it aside: {said}", **params
    ),
    WaitCode.KUEUE_CHECKS: lambda params: Sentence(
        "jobs.wait_kueue_checks",
        "Its quota is reserved; the checks of its queue are still open.",
        **params,
    ),
    WaitCode.KUEUE_PENDING: lambda params: Sentence(
        "jobs.wait_kueue_pending", "Its queue {queue} has not looked at it yet.", **params
    ),
    WaitCode.KUEUE_OTHER: lambda params: Sentence(
        "jobs.wait_kueue_other", "Its queue has not admitted it: {said}", **params
    ),
    WaitCode.OTHER: lambda params: Sentence(
        "jobs.wait_other", "The cluster says: {said}", **params
    ),
}
