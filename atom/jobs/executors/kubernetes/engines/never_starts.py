"""Waits that are over at some time: an image that nobody can pull is given up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from atom.clusters.engines.documents import moment
from atom.jobs.executors.kubernetes.engines.end_causes import EndCause, cause
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.waiting import why_waiting
from atom.jobs.failures.engines.failures import Failure, Limits

# A registry that is away for a moment, or busy, is waited for; kubelets try every five minutes.
IMAGE_PULL_AFTER: Final = timedelta(minutes=15)
_IMAGE: Final = {WaitCode.IMAGE_PULL, WaitCode.IMAGE_NAME}


def never_starts(observed: Mapping[str, Any], now: datetime, limits: Limits) -> Failure | None:
    """Return the failure of pods whose image was not pulled for too long, None for all others."""
    wait = why_waiting(observed.get("job"), observed.get("pods") or ())
    if wait is None or wait.code not in _IMAGE:
        return None
    since = moment(wait.params, "since")
    if since is None or now - since < IMAGE_PULL_AFTER:
        return None
    params = {**wait.params, "said": wait.evidence or str(wait.sentence)}
    return cause(EndCause.IMAGE_PULL, wait.evidence, **params).failure(limits)
