"""Reads a refusal by a ResourceQuota: the resource that is used up, and how much of it. Pure."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = r"([^\s]{1,2000})"
_SENTENCE: Final = re.compile(rf"requested: {_PART}, used: {_PART}, limited: {_PART}$")


def quota_use(message: str) -> dict[str, str]:
    """Return `resource`, `asked`, `used` and `limit` of the first resource that is used up.

    The values are quantities of Kubernetes, such as 16Gi; {} for a message of another form.
    """
    parts = _SENTENCE.search(message.strip())
    if parts is None:
        return {}
    asked, used, limited = (_amounts(part) for part in parts.groups())
    for resource, limit in limited.items():
        if resource in asked and resource in used:
            return {
                "resource": resource.removeprefix("requests.").removeprefix("limits."),
                "asked": asked[resource],
                "used": used[resource],
                "limit": limit,
            }
    return {}


def _amounts(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name: amount for name, equals, amount in pairs if name and equals and amount}
