"""`/ws/projects/<slug>/`: events of changes in a project; pages read the changes by HTTP."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async

from atom.accounts.models import Project, User
from atom.core.consumers import TellingConsumer


class ProjectConsumer(TellingConsumer):
    """Passes on what apps publish to `project.<id>`."""

    async def find_group(self) -> str | None:
        """Return the project's group."""
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        project = await _visible(self.scope.get("user"), slug)
        return f"project.{project.pk}" if project else None

    async def joined(self) -> None:
        """Say so: what changed until now was not heard, what comes from now on is."""
        await self.send_json({"type": "hello"})


@database_sync_to_async
def _visible(user: Any, slug: str) -> Project | None:
    if not isinstance(user, User) or not user.is_active:
        return None
    return Project.objects.visible_to(user).filter(slug=slug).first()
