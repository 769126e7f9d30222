"""What accounts tells open connections."""

from __future__ import annotations

from uuid import UUID

from atom.core.consumers import ACCESS, ACCESS_OF_ALL, access_group
from atom.core.live import publish


def tell_access_changed(user_id: UUID) -> None:
    """Have the person's sockets look again whether they may listen, once this has committed."""
    publish(access_group(user_id), {"type": ACCESS})


def tell_everybody_access_changed() -> None:
    """The same for all sockets: roles from above have changed in a part of the tree."""
    publish(ACCESS_OF_ALL, {"type": ACCESS})
