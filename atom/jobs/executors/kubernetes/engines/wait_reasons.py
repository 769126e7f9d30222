"""Reasons why a Job of Kubernetes waits: codes, sentences and suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.wait_sentences import SENTENCES
from atom_sdk.sentences import Sentence


@dataclass(frozen=True, slots=True)
class WaitReason:
    """One reason: its sentence, the recorded text as evidence, and what to do about it.

    `node_counts` has `{"nodes": int, "reason": str}` for each reason of the scheduler.
    """

    code: WaitCode
    sentence: Sentence
    suggestion: Sentence
    evidence: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    node_counts: Sequence[Mapping[str, Any]] = ()


def reason(
    code: WaitCode,
    evidence: str,
    node_counts: Sequence[Mapping[str, Any]] = (),
    **params: Any,
) -> WaitReason:
    """Return the reason of this code; `params` must have what its sentence names."""
    return WaitReason(
        code, SENTENCES[code](params), _suggestion(code), evidence, params, tuple(node_counts)
    )


def _suggestion(code: WaitCode) -> Sentence:
    return _SUGGESTIONS[_SUGGESTED.get(code, "wait")]


_SUGGESTED: Final = {
    WaitCode.UNSCHEDULABLE_RESOURCES: "ask_less",
    WaitCode.UNSCHEDULABLE: "ask_nodes",
    WaitCode.UNSCHEDULABLE_OTHER: "ask_administrator",
    WaitCode.SCHEDULING_GATED: "wait",
    WaitCode.IMAGE_PULL: "check_image",
    WaitCode.IMAGE_NAME: "check_image",
    WaitCode.CONFIG_MISSING: "check_config",
    WaitCode.CONTAINER_NOT_STARTED: "check_command",
    WaitCode.VOLUME: "ask_administrator",
    WaitCode.VOLUME_MISSING: "check_volume",
    WaitCode.QUOTA_EXCEEDED: "ask_less",
    WaitCode.WEBHOOK: "ask_administrator",
    WaitCode.PODS_REFUSED: "ask_administrator",
    WaitCode.KUEUE_NEVER_FITS: "never_fits",
    WaitCode.KUEUE_NO_FLAVOR: "ask_nodes",
    WaitCode.KUEUE_MISCONFIGURED: "ask_administrator",
    WaitCode.KUEUE_INACTIVE: "ask_administrator",
    WaitCode.KUEUE_PODS_READY: "ask_administrator",
    WaitCode.KUEUE_TOPOLOGY: "ask_less",
    WaitCode.KUEUE_DEACTIVATED: "start_again",
    WaitCode.KUEUE_OTHER: "ask_administrator",
    WaitCode.OTHER: "ask_administrator",
}
_SUGGESTIONS: Final = {
    "wait": Sentence("jobs.wait_do_nothing", "Wait; it goes on by itself."),
    "ask_less": Sentence(
        "jobs.wait_ask_less", "Wait until other work ends, or clone the run and ask for less."
    ),
    "ask_nodes": Sentence(
        "jobs.wait_ask_nodes",
        "Choose other kinds of machines, or ask an administrator to open machines for this work.",
    ),
    "ask_administrator": Sentence(
        "jobs.wait_ask_administrator", "Show this text to an administrator of the cluster."
    ),
    "check_image": Sentence(
        "jobs.wait_check_image",
        "Check the image's name and tag, and that the cluster may read its registry.",
    ),
    "check_config": Sentence(
        "jobs.wait_check_config", "Create the missing secret or configuration, or correct its name."
    ),
    "check_command": Sentence(
        "jobs.wait_check_command", "Check that the image contains the command and may execute it."
    ),
    "check_volume": Sentence(
        "jobs.wait_check_volume", "Create the volume, or remove it from the run."
    ),
    "never_fits": Sentence(
        "jobs.wait_never_fits_do", "Ask for less, or ask an administrator for a larger quota."
    ),
    "start_again": Sentence("jobs.wait_start_again", "Cancel the run and start it again."),
}
