"""Kinds of events that webhooks can subscribe to. The app that owns the object emits them."""

from __future__ import annotations

from typing import Final

# Kind → its meaning, for people.
EVENT_KINDS: Final[dict[str, str]] = {
    "run.started": "A run's command began.",
    "run.succeeded": "A run ended well.",
    "run.failed": "A run failed, and is not tried again by itself.",
    "run.cancelled": "A run was cancelled.",
    "version.committed": "A branch of a dataset got a new version.",
    "model_version.registered": "A model got a new version.",
    "alias.moved": "An alias of a model points at another version, or was removed.",
    "label_task.published": "The labels of a task were published as a version.",
}
# Sent on request, to see whether a webhook works.
TEST: Final = "webhook.test"
