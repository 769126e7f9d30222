"""Names that queues and resources may have. Pure; each refusal is a sentence."""

from __future__ import annotations

import re

from atom_sdk.sentences import Sentence

MAX_CLUSTER_QUEUE = 253
# The name of a LocalQueue is the value of a label.
MAX_LOCAL_QUEUE = 63
_PART = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")


def wrong_queue(name: str) -> Sentence | None:
    """Return why this is no name of a queue; "" is none at all."""
    if not name or _NAME.fullmatch(name):
        return None
    return Sentence(
        "clusters.queue_name_wrong",
        "A queue has lower-case letters, digits, dashes and dots in its name.",
    )


def wrong_pair(cluster_queue: str, local_queue: str) -> Sentence | None:
    """Return why a ClusterQueue needs another name for its LocalQueue, None if it does not."""
    if local_queue or len(cluster_queue) <= MAX_LOCAL_QUEUE:
        return None
    return Sentence(
        "clusters.local_queue_needed",
        "The name of this ClusterQueue is longer than {max} characters. Give the LocalQueue a "
        "shorter one.",
        max=MAX_LOCAL_QUEUE,
    )
