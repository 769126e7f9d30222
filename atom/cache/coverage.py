"""How much of a version is on a node, measured and not remembered."""

from __future__ import annotations

from dataclasses import dataclass

from atom.cache.placement import pack_store
from atom.cache.registered import registered_bytes, registered_packs
from atom.datasets.models import Pack, Version
from atom.datasets.reads import packs_of
from atom_sdk.packs.store import covered_packs

_NOWHERE = "0" * 64


@dataclass(frozen=True)
class Coverage:
    """`bitmap` has one bit per pack in the order of `packs_of`; after those, the node's own packs.

    Objects at a source that were never brought here count as one pack that is not here.
    """

    bitmap: bytes
    packs_total: int
    packs_present: int
    bytes_total: int
    bytes_present: int

    @property
    def is_complete(self) -> bool:
        """Return whether every pack is here."""
        return self.packs_present == self.packs_total


def measure(version: Version) -> Coverage:
    """Look which packs of the version are on this machine."""
    digests = packs_of(version)
    sizes = pack_sizes(version, digests)
    own = registered_packs(version)
    own = {_NOWHERE: registered_bytes(version)} if own is None else own
    digests += sorted(own.keys() - sizes.keys())
    sizes = own | sizes
    bitmap = pack_store(version.dataset.project).coverage([bytes.fromhex(d) for d in digests])
    here = covered_packs(bitmap, len(digests))
    present = [digest for digest, is_here in zip(digests, here, strict=True) if is_here]
    return Coverage(
        bitmap=bitmap,
        packs_total=len(digests),
        packs_present=len(present),
        bytes_total=sum(sizes.values()),
        bytes_present=sum(sizes[digest] for digest in present),
    )


def pack_sizes(version: Version, digests: list[str]) -> dict[str, int]:
    """Return the size of each pack in bytes."""
    packs = Pack.objects.filter(project=version.dataset.project, digest__in=digests)
    return dict.fromkeys(digests, 0) | dict(packs.values_list("digest", "size_bytes"))
