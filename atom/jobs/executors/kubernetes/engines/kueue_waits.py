"""Reads Kueue's Workload: why a Job is not admitted, or was stopped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from atom.clusters.engines.documents import (
    Document,
    condition,
    last_condition,
    name_of,
    text,
)
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.wait_reasons import WaitReason, reason

_BY_REASON: Final = {
    "WaitingForQuota": WaitCode.KUEUE_QUOTA,
    "ExceedsMaxQuota": WaitCode.KUEUE_NEVER_FITS,
    "NoMatchingFlavor": WaitCode.KUEUE_NO_FLAVOR,
    "AdmissionGated": WaitCode.KUEUE_GATED,
    "Misconfigured": WaitCode.KUEUE_MISCONFIGURED,
    "Suspended": WaitCode.KUEUE_INACTIVE,
    "Inadmissible": WaitCode.KUEUE_MISCONFIGURED,
    "WaitingForPreemptedWorkloads": WaitCode.KUEUE_PREEMPTING,
    "WaitingForPodsReady": WaitCode.KUEUE_PODS_READY,
    "TopologyPlacementFailed": WaitCode.KUEUE_TOPOLOGY,
    "Deactivated": WaitCode.KUEUE_DEACTIVATED,
}
_PREEMPTING: Final = {"PreemptedWorkload", "WaitingForPreemptedWorkloads"}
# Older versions of Kueue give one reason, Pending, for all of these.
_BY_TEXT: Final = (
    (re.compile(r"> maximum capacity|exceeds the maximum"), WaitCode.KUEUE_NEVER_FITS),
    (re.compile(r"Pending the preemption"), WaitCode.KUEUE_PREEMPTING),
    (re.compile(r"insufficient unused quota|no longer fits"), WaitCode.KUEUE_QUOTA),
    (re.compile(r"doesn't match|untolerated taint"), WaitCode.KUEUE_NO_FLAVOR),
    (re.compile(r"[Gg]ated by"), WaitCode.KUEUE_GATED),
    (re.compile(r"doesn't exist"), WaitCode.KUEUE_MISCONFIGURED),
    (re.compile(r"is (inactive|stopped)"), WaitCode.KUEUE_INACTIVE),
    (re.compile(r"PodsReady timeout"), WaitCode.KUEUE_PODS_READY),
    (re.compile(r"is deactivated"), WaitCode.KUEUE_DEACTIVATED),
    (re.compile(r"^topology "), WaitCode.KUEUE_TOPOLOGY),
    (re.compile(r"^Preempted "), WaitCode.KUEUE_PREEMPTED),
)


def workload_wait(workload: object) -> WaitReason | None:
    """Return why Kueue has not admitted the Workload; None once it is admitted."""
    evicted = condition(workload, "Evicted")
    if condition(workload, "Admitted"):
        return _stopping(evicted) if evicted else None
    reserved = last_condition(workload, "QuotaReserved")
    if reserved is None:
        return reason(WaitCode.KUEUE_PENDING, "", queue=text(workload, "spec", "queueName") or "?")
    message = text(reserved, "message")
    if reserved.get("status") == "True":
        return reason(WaitCode.KUEUE_CHECKS, message)
    code = _code_of(text(reserved, "reason"), message)
    if code is WaitCode.KUEUE_OTHER and text(reserved, "reason") == "PendingEvaluation":
        queue = text(workload, "spec", "queueName") or "?"
        return reason(WaitCode.KUEUE_PENDING, message, queue=queue)
    return reason(code, message, said=message)


def _stopping(evicted: Document) -> WaitReason:
    """Return why Kueue stops a Job whose pods still run."""
    message = text(evicted, "message")
    code = _code_of("", message)
    return reason(code, message, said=message)


def _code_of(name: str, message: str) -> WaitCode:
    if name in _BY_REASON:
        return _BY_REASON[name]
    found = (code for pattern, code in _BY_TEXT if pattern.search(message))
    return next(found, WaitCode.KUEUE_OTHER)


def is_preempting(workload: object, events: Iterable[object]) -> bool:
    """Return whether Kueue admitted the Workload over victims that may still hold their GPUs.

    The admission removes this from the conditions; the Workload's own events keep it.
    """
    ready = last_condition(workload, "PodsReady")
    if condition(workload, "Admitted") is None or (ready and ready.get("status") == "True"):
        return False
    name = name_of(workload)
    return any(
        text(event, "reason") in _PREEMPTING and text(event, "involvedObject", "name") == name
        for event in events
    )
