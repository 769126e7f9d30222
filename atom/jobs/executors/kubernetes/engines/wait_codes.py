"""Kinds of waits of a Job of Kubernetes."""

from __future__ import annotations

from enum import StrEnum


class WaitCode(StrEnum):
    """The kind of a wait; each has one sentence and one suggestion."""

    UNSCHEDULABLE_RESOURCES = "unschedulable_resources"
    UNSCHEDULABLE = "unschedulable"
    UNSCHEDULABLE_OTHER = "unschedulable_other"
    SCHEDULING_GATED = "scheduling_gated"
    TO_BE_SCHEDULED = "to_be_scheduled"
    VICTIMS_RUN = "victims_run"
    IMAGE_PULL = "image_pull"
    IMAGE_NAME = "image_name"
    CONFIG_MISSING = "config_missing"
    CONTAINER_NOT_STARTED = "container_not_started"
    VOLUME = "volume"
    VOLUME_MISSING = "volume_missing"
    INIT_CONTAINER = "init_container"
    STARTING = "starting"
    QUOTA_EXCEEDED = "quota_exceeded"
    WEBHOOK = "webhook"
    PODS_REFUSED = "pods_refused"
    PODS_TO_BE_CREATED = "pods_to_be_created"
    SUSPENDED = "suspended"
    KUEUE_QUOTA = "kueue_quota"
    KUEUE_NEVER_FITS = "kueue_never_fits"
    KUEUE_NO_FLAVOR = "kueue_no_flavor"
    KUEUE_GATED = "kueue_gated"
    KUEUE_MISCONFIGURED = "kueue_misconfigured"
    KUEUE_INACTIVE = "kueue_inactive"
    KUEUE_PREEMPTING = "kueue_preempting"
    KUEUE_PREEMPTED = "kueue_preempted"
    KUEUE_PODS_READY = "kueue_pods_ready"
    KUEUE_TOPOLOGY = "kueue_topology"
    KUEUE_DEACTIVATED = "kueue_deactivated"
    KUEUE_CHECKS = "kueue_checks"
    KUEUE_PENDING = "kueue_pending"
    KUEUE_OTHER = "kueue_other"
    OTHER = "other"
