"""The part of a cluster's profile that pods get, and whether RDMA is on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from atom.clusters.registration.engines.findings import Finding
from atom.clusters.registration.engines.profile_values import IB_DISABLE, needs_rdma
from atom_sdk.sentences import Sentence

RDMA = "rdma"
RdmaState = Literal["unused", "off", "on"]
_KIB = 1024


@dataclass(frozen=True, slots=True)
class RdmaNeed:
    """The RDMA devices of a pod, and the memlock limit that its node must give.

    `memlock_bytes` None: unlimited.
    """

    resource: str
    count: int
    memlock_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RdmaTest:
    """The result of the last pod that tried RDMA."""

    passed: bool
    at: datetime
    node: str
    reason: Sentence


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a cluster; without RDMA `rdma` is None."""

    priority_class: str = ""
    tolerations: tuple[Mapping[str, str], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    rdma: RdmaNeed | None = None
    test: RdmaTest | None = None

    @property
    def rdma_state(self) -> RdmaState:
        """Return whether pods get RDMA devices."""
        if self.rdma is None:
            return "unused"
        return "on" if self.test is not None and self.test.passed else "off"

    @property
    def rdma_reason(self) -> Sentence | None:
        """Return why RDMA is on or off; None where the profile does not name it."""
        if self.rdma is None:
            return None
        if self.test is not None:
            return self.test.reason
        return Sentence(
            "clusters.rdma_untested",
            "RDMA is off: no pod has tried it with this profile yet. Try a pod.",
        )


@dataclass(frozen=True, slots=True)
class PodProfile:
    """Parts of a profile as the pods of one Job have them."""

    priority_class: str = ""
    tolerations: tuple[Mapping[str, str], ...] = ()
    # Devices by the resource's name; empty while RDMA is off.
    devices: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    # Why RDMA is off although the profile names it, for pods that would use it.
    rdma_off: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored with a Job's row."""
        return {
            "priority_class": self.priority_class,
            "tolerations": [dict(one) for one in self.tolerations],
            "devices": dict(self.devices),
            "environment": dict(self.environment),
            "rdma_off": self.rdma_off,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> PodProfile:
        """Return what `as_json` stored; a row from before profiles has none of it."""
        return cls(
            stored.get("priority_class", ""),
            tuple(stored.get("tolerations", ())),
            stored.get("devices", {}),
            stored.get("environment", {}),
            stored.get("rdma_off"),
        )


def pod_profile_of(profile: Profile, *, has_accelerators: bool) -> PodProfile:
    """Return the profile of a run's pods.

    Only pods with accelerators get RDMA devices: others would be bound to the nodes that have them.
    """
    has_rdma = has_accelerators and profile.rdma_state == "on"
    devices = {profile.rdma.resource: profile.rdma.count} if profile.rdma and has_rdma else {}
    environment = {
        name: value for name, value in profile.settings.items() if has_rdma or not needs_rdma(name)
    }
    if profile.rdma is not None and not has_rdma:
        environment[IB_DISABLE] = "1"
    reason = profile.rdma_reason if has_accelerators and profile.rdma_state == "off" else None
    return PodProfile(
        profile.priority_class,
        profile.tolerations,
        devices,
        environment,
        {**reason.as_code(), "text": str(reason)} if reason else None,
    )


def build_profile_of(profile: Profile) -> PodProfile:
    """Return the profile of pods that build environments: they need a node, and no devices."""
    return PodProfile(profile.priority_class, profile.tolerations)


def rdma_finding(profile: Profile) -> Finding | None:
    """Return what the page of a cluster says about RDMA; None where no profile names it."""
    reason = profile.rdma_reason
    if reason is None:
        return None
    evidence = {}
    if profile.test is not None:
        evidence = {"tested_at": profile.test.at.isoformat(), "node": profile.test.node}
    return Finding(RDMA, "ok" if profile.rdma_state == "on" else "warn", reason, evidence)


def shown_limit(limit_bytes: int) -> str:
    """Return a memlock limit as people write it, such as "64 KiB"."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    at, amount = 0, limit_bytes
    while amount and amount % _KIB == 0 and at < len(units) - 1:
        at, amount = at + 1, amount // _KIB
    return f"{amount} {units[at]}"
