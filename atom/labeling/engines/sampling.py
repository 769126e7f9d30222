"""Which submissions an auditor sees."""

import hashlib
from uuid import UUID

_BUCKETS = 10_000


def is_sampled(task_id: UUID, path: str, audit_percent: float) -> bool:
    """Return whether the item at `path` is audited, for `audit_percent` in 0..100.

    Depends on nothing but the arguments: the same item is drawn again after a crash, and a
    labeler cannot tell from the order of work which items will be looked at.
    """
    digest = hashlib.blake2b(path.encode(), key=task_id.bytes, digest_size=8).digest()
    return int.from_bytes(digest, "big") % _BUCKETS < audit_percent * (_BUCKETS / 100)


def pseudonym(project_id: UUID, user_id: object) -> str:
    """Return the stable name under which a person appears in published layers of a project."""
    digest = hashlib.blake2b(str(user_id).encode(), key=project_id.bytes, digest_size=6)
    return f"labeler-{digest.hexdigest()}"
