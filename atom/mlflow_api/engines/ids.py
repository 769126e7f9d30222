"""MLflow's ids: a run is the 32 hexadecimal digits of its UUID, a logged model has `m-` before it.

The default experiment is `0`, as MLflow's client takes for granted; others are named like runs.
"""

from __future__ import annotations

import re
from uuid import UUID

DEFAULT_EXPERIMENT_ID = "0"
MODEL_PREFIX = "m-"
_HEX = re.compile(r"[0-9a-f]{32}")


def uuid_of(text: str) -> UUID | None:
    """Return the UUID that 32 hexadecimal digits spell; None for anything else."""
    return UUID(hex=text) if _HEX.fullmatch(text) else None


def uuid_of_model(text: str) -> UUID | None:
    """Return the UUID of a logged model's id."""
    return uuid_of(text.removeprefix(MODEL_PREFIX)) if text.startswith(MODEL_PREFIX) else None


def model_id(uuid: UUID) -> str:
    """Return a logged model's id."""
    return f"{MODEL_PREFIX}{uuid.hex}"
