"""Kinds of events that notify people, and the topics that people choose by.

The app that owns the object emits the event, with the people whom it concerns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOW: Final = "now"
DAILY: Final = "daily"
NEVER: Final = "never"
MAIL_CHOICES: Final = (NOW, DAILY, NEVER)


@dataclass(frozen=True, slots=True)
class Topic:
    """Default preferences of a topic; a fixed topic cannot be turned off."""

    in_app: bool
    mail: str
    is_fixed: bool = False


TOPICS: Final[dict[str, Topic]] = {
    "run_failed": Topic(True, NOW),
    "run_finished": Topic(True, NEVER),
    "run_waiting": Topic(True, NEVER),
    "mention": Topic(True, NOW),
    "labeling": Topic(True, DAILY),
    "audit": Topic(True, DAILY),
    "data_failed": Topic(True, NOW),
    "data_finished": Topic(True, NEVER),
    "membership": Topic(True, NOW),
    "webhook": Topic(True, NOW),
    # An attacker who takes over an account must not be able to switch these off.
    "security": Topic(True, NOW, is_fixed=True),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """The topic of a kind and where its thing is in the portal.

    Unread ones of a grouped kind about the same thing are one, with how many there were.
    """

    topic: str
    path: str
    is_grouped: bool = False


_RUN: Final = "/runs/{run}"
_VERSIONS: Final = "/datasets/{dataset}/versions"
_TASK: Final = "/labeling/{task}"
_ACCOUNT: Final = "/settings/account"

KINDS: Final[dict[str, Kind]] = {
    "run.failed": Kind("run_failed", _RUN),
    "run.succeeded": Kind("run_finished", _RUN),
    "run.waiting": Kind("run_waiting", _RUN),
    "run.mentioned": Kind("mention", f"{_RUN}?tab=comments"),
    "label_task.started": Kind("labeling", _TASK),
    "label_task.returned": Kind("labeling", f"{_TASK}/work", is_grouped=True),
    "label_task.submitted": Kind("audit", f"{_TASK}/audit", is_grouped=True),
    "label_task.published": Kind("labeling", _TASK),
    "label_task.unpublished": Kind("labeling", _TASK),
    "commit.published": Kind("data_finished", _VERSIONS),
    "commit.failed": Kind("data_failed", _VERSIONS),
    "commit.conflict": Kind("data_failed", _VERSIONS),
    "scan.done": Kind("data_finished", "/sources"),
    "scan.failed": Kind("data_failed", "/sources", is_grouped=True),
    "source.drifted": Kind("data_failed", "/sources", is_grouped=True),
    "invitation.accepted": Kind("membership", "/settings/members"),
    "role.granted": Kind("membership", "/"),
    "role.changed": Kind("membership", "/"),
    "role.removed": Kind("membership", _ACCOUNT),
    "webhook.disabled": Kind("webhook", "/settings/webhooks"),
    "account.signed_in": Kind("security", _ACCOUNT),
    "account.password_changed": Kind("security", _ACCOUNT),
    "account.second_factor_changed": Kind("security", _ACCOUNT),
}
_TASK_WORK: Final = ("label_task.started", "label_task.returned", "label_task.submitted")
# By the kind of an event: what it ends, of the same thing and from before it. That is read by then,
# whoever did the work.
SETTLED_BY: Final[dict[str, tuple[str, ...]]] = {
    "run.started": ("run.waiting",),
    "run.succeeded": ("run.waiting", "run.failed"),
    "run.failed": ("run.waiting", "run.failed"),
    "run.cancelled": ("run.waiting", "run.failed"),
    "label_task.audited": ("label_task.submitted",),
    "label_task.corrected": ("label_task.returned",),
    "label_task.completed": _TASK_WORK,
    "label_task.published": (*_TASK_WORK, "label_task.unpublished"),
    "commit.dismissed": ("commit.failed", "commit.conflict"),
    "scan.done": ("scan.failed", "source.drifted"),
    "source.removed": ("scan.failed", "source.drifted"),
    "webhook.enabled": ("webhook.disabled",),
    "webhook.deleted": ("webhook.disabled",),
}
# Only sign-ins from a new place notify.
SIGNED_IN: Final = "account.signed_in"


def kinds_of(topic: str) -> list[str]:
    """Return the kinds of a topic."""
    return [name for name, kind in KINDS.items() if kind.topic == topic]
