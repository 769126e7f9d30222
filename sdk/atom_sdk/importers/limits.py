"""How much an archive may unpack to."""

from __future__ import annotations

from dataclasses import dataclass

from atom_sdk.importers.errors import ArchiveTooLargeError
from atom_sdk.sentences import Sentence

MIB, GIB = 1 << 20, 1 << 30
# Below this a high ratio does no harm: a page of zeros compresses a thousand times.
_HARMLESS_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Number of members, bytes that they unpack to, and how many times the archive's size."""

    members: int = 20_000_000
    total_bytes: int = 4096 * GIB
    ratio: float = 200.0


class Budget:
    """Counts what an archive unpacks to, and stops in time."""

    def __init__(self, name: str, archive_bytes: int, limits: ArchiveLimits) -> None:
        """`archive_bytes` is the size of the archive itself."""
        self._name = name
        self._archive_bytes = max(archive_bytes, 1)
        self._limits = limits
        self._members = 0
        self._total_bytes = 0

    def take_member(self, size_bytes: int) -> None:
        """Count a member. Raises ArchiveTooLargeError."""
        self._members += 1
        if self._members > self._limits.members:
            raise ArchiveTooLargeError(
                Sentence(
                    "formats.archive_members",
                    "{name} has more than {limit:,} members.",
                    name=self._name,
                    limit=self._limits.members,
                )
            )
        self.take_bytes(size_bytes)

    def take_bytes(self, size_bytes: int) -> None:
        """Count unpacked bytes. Raises ArchiveTooLargeError."""
        self._total_bytes += size_bytes
        if self._total_bytes > self._limits.total_bytes:
            raise ArchiveTooLargeError(
                Sentence(
                    "formats.archive_bytes",
                    "{name} unpacks to more than {limit:,.0f} GiB.",
                    name=self._name,
                    limit=self._limits.total_bytes / GIB,
                )
            )
        ratio = self._total_bytes / self._archive_bytes
        if self._total_bytes > _HARMLESS_BYTES and ratio > self._limits.ratio:
            raise ArchiveTooLargeError(
                Sentence(
                    "formats.archive_ratio",
                    "{name} unpacks to more than {limit:g} times its own size.",
                    name=self._name,
                    limit=self._limits.ratio,
                )
            )
