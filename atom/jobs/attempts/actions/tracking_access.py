"""The token by which the command of a run logs to that very run through MLflow's API.

It names the attempt and is signed, so nothing is stored. It works for the attempt's own run while
the attempt is open. It does not open the protocol of runners.
"""

from __future__ import annotations

from uuid import UUID

from atom.core.crypto import BadSignature, sign, unsign
from atom.jobs import states
from atom.jobs.models import Attempt

PREFIX = "atomlog_"
_PURPOSE = "jobs.tracking"
TRACKING_URI = "MLFLOW_TRACKING_URI"


def token_of(attempt: Attempt) -> str:
    """Return the attempt's token."""
    return PREFIX + sign({"attempt": str(attempt.pk)}, _PURPOSE)


def find_by_token(text: str) -> Attempt | None:
    """Return the open attempt whose token this is."""
    if not text.startswith(PREFIX):
        return None
    try:
        named = UUID(str(unsign(text.removeprefix(PREFIX), _PURPOSE).get("attempt")))
    except (BadSignature, ValueError):
        return None
    found = Attempt.objects.exclude(state__in=states.TERMINAL).filter(pk=named)
    return found.select_related("run__project", "run__created_by").first()


def grant(attempt: Attempt, api_url: str) -> dict[str, str]:
    """Return the variables by which MLflow's client finds its own run.

    {} where the person named a tracking server of their own.
    """
    run = attempt.run
    if TRACKING_URI in run.env:
        return {}
    return {
        TRACKING_URI: f"{api_url.rstrip('/')}/api/mlflow/{run.project.slug}",
        "MLFLOW_TRACKING_TOKEN": token_of(attempt),
        "MLFLOW_RUN_ID": run.pk.hex,
    }
