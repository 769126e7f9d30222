"""The live counts of a label task."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from atom.accounts.models import User
from atom.core.consumers import TellingConsumer
from atom.labeling.models import LabelTask


class LabelTaskConsumer(TellingConsumer):
    """Says `{"type": "progress"}` when counts change; the page reads them again by HTTP."""

    async def find_group(self) -> str | None:
        """Return the task's group."""
        task_id: UUID = self.scope["url_route"]["kwargs"]["task_id"]
        is_visible = await _is_visible(self.scope.get("user"), task_id)
        return f"labeltask.{task_id}" if is_visible else None


@database_sync_to_async
def _is_visible(user: Any, task_id: UUID) -> bool:
    if not isinstance(user, User) or not user.is_active:
        return False
    return LabelTask.objects.visible_to(user).filter(pk=task_id).exists()
