"""The meaning of the report of a pod that tried RDMA. Pure."""

from __future__ import annotations

import json

from atom.clusters.registration.engines.profiles import RdmaNeed, shown_limit
from atom_sdk.sentences import Sentence

_UNLIMITED = -1


def judge_rdma(text: str, need: RdmaNeed, exit_code: object, node: str) -> tuple[bool, Sentence]:
    """Return whether RDMA is on, and why; an unreadable report leaves it off."""
    measured = _measured(text)
    if measured is None:
        return False, Sentence(
            "clusters.rdma_no_report",
            "RDMA is off: the pod that tried it ended with {code} and said: {said}",
            code=str(exit_code),
            said=text.strip()[-300:] or "-",
        )
    limit, devices = measured
    if devices == 0:
        return False, Sentence(
            "clusters.rdma_no_device",
            "RDMA is off: the pod on {node} had {resource}, and no device in /dev/infiniband. "
            "Check the device plugin there, and try a pod again.",
            node=node,
            resource=need.resource,
        )
    if not _is_enough(limit, need.memlock_bytes):
        return False, Sentence(
            "clusters.rdma_memlock",
            "RDMA is off: the runtime of {node} gives pods a memlock limit of {given}, and the "
            "profile needs {needed}. For containerd set LimitMEMLOCK=infinity in its systemd unit, "
            'for CRI-O default_ulimits = ["memlock=-1:-1"]. Restart it, and try a pod again.',
            node=node,
            given=_shown(limit),
            needed=_shown(need.memlock_bytes),
        )
    return True, Sentence(
        "clusters.rdma_on",
        "RDMA is on: a pod on {node} had {resource} and a memlock limit of {given}.",
        node=node,
        resource=need.resource,
        given=_shown(limit),
    )


def not_started(need: RdmaNeed, why: Sentence) -> Sentence:
    """Return why RDMA is off if its pod gave no report."""
    return Sentence(
        "clusters.rdma_not_started",
        "RDMA is off: the pod that asked for {count} {resource} gave no report. {said}",
        count=need.count,
        resource=need.resource,
        said=why,
    )


def _measured(text: str) -> tuple[int | None, int] | None:
    """Return the memlock limit in bytes (None: unlimited) and the devices; None for no report."""
    try:
        report = json.loads(text)
    except ValueError:
        return None
    part = report.get("rdma") if isinstance(report, dict) else None
    if not isinstance(part, dict):
        return None
    limit, devices = part.get("memlock_bytes"), part.get("devices")
    if type(limit) is not int or type(devices) is not int or limit < _UNLIMITED or devices < 0:
        return None
    return (None if limit == _UNLIMITED else limit), devices


def _is_enough(limit: int | None, needed: int | None) -> bool:
    return limit is None or (needed is not None and limit >= needed)


def _shown(limit: int | None) -> str:
    if limit is None:
        return Sentence("clusters.unlimited", "unlimited")
    return shown_limit(limit)
