"""The audit trail: one call in every action that changes something."""

from __future__ import annotations

from typing import Any

import structlog
from django.db.models import Model

from atom.accounts.models import AuditEvent, Project, User


def record(
    actor: User | None,
    verb: str,
    obj: Model,
    project: Project | None = None,
    about: Model | None = None,
    /,
    **data: Any,
) -> AuditEvent:
    """Write an event in the caller's transaction; `data` must be plain JSON, never secrets.

    `about` is the thing among whose activity people look for it, such as the dataset of a tag.
    """
    return AuditEvent.objects.create(
        actor=actor,
        actor_name=actor.username if actor else "",
        verb=verb,
        object_type=obj._meta.model_name or "",
        object_id=str(obj.pk),
        project=project,
        subject_id=about.pk if about else None,
        data=data,
        request_id=structlog.contextvars.get_contextvars().get("request_id", ""),
    )
