"""Events of accounts: for open connections, and for the owners of accounts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from atom.core import outbox
from atom.core.consumers import ACCESS, ACCESS_OF_ALL, access_group
from atom.core.live import publish


def notify_access_changed(user_id: UUID) -> None:
    """Have the person's sockets look again whether they may listen, once this has committed."""
    publish(access_group(user_id), {"type": ACCESS})


def notify_all_access_changed() -> None:
    """The same for all sockets: roles from above have changed in a part of the tree."""
    publish(ACCESS_OF_ALL, {"type": ACCESS})


def notify_owner(user: Any, kind: str, **data: Any) -> None:
    """Tell a person what was done with their account, whoever did it."""
    outbox.emit(None, kind, people=[user.pk], subject=user.pk, **data)
