"""Which submissions an auditor sees: an exact share, drawn along the order of the work."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from uuid import UUID


@dataclass(frozen=True)
class AuditDraw:
    """Draws `ceil(percent / 100 * total)` of a task's items, for `percent` in 0..100.

    Positions 0 to total - 1 fall into consecutive blocks of about 100 / percent items, and one item
    of each is drawn. Work is handed out in that order, so each finished stretch, and so each
    person's work, has had its share. The draw depends on nothing but the arguments: the same item
    is drawn again after a crash, and the order of work does not show which it is.

    Stratified random sampling with one draw a stratum: Cochran, Sampling Techniques, chapter 5.
    """

    task_id: UUID
    percent: float
    total: int

    def takes(self, position: int) -> bool:
        """Return whether the item at `position` is audited."""
        # Exact: 0.1 * 30 is more than 3 in floating point, which would be a fourth block.
        share = Fraction(str(self.percent)) / 100
        if share <= 0:
            return False
        block = math.ceil((position + 1) * share)
        first = math.floor(Fraction(block - 1) / share)
        end = min(math.floor(Fraction(block) / share), max(self.total, position + 1))
        return position == first + self._number(block) % max(1, end - first)

    def _number(self, block: int) -> int:
        digest = hashlib.blake2b(str(block).encode(), key=self.task_id.bytes, digest_size=8)
        return int.from_bytes(digest.digest(), "big")


def pseudonym(project_id: UUID, user_id: object) -> str:
    """Return the stable name under which a person appears in published layers of a project."""
    digest = hashlib.blake2b(str(user_id).encode(), key=project_id.bytes, digest_size=6)
    return f"labeler-{digest.hexdigest()}"
