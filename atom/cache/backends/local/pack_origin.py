"""Packs as the object store gives them, and which of them it has lost on its own disk."""

from __future__ import annotations

import time
from collections.abc import Iterator

from atom.cache.engines.fill import UnreadablePackError
from atom.core import storage
from atom.core.storage import StoreError
from atom.datasets.keys import copy_check_key, pack_key
from atom.datasets.models import Version
from atom_sdk.manifests.objects import root_key

_CHECKS = 3
_BETWEEN_CHECKS_S = 1.0
# A node brings a pack at a time: larger pieces reach its disk sooner.
_CHUNK_BYTES = 8 << 20


class PackOrigin:
    """The stored packs of a version's project."""

    def __init__(self, version: Version) -> None:
        self._objects = storage.objects()
        self._prefix = storage.project_prefix(version.dataset.project)
        self._witness = self._prefix + root_key(bytes.fromhex(version.root))

    def stream(self, pack: bytes) -> Iterator[memoryview]:
        """Yield a pack's bytes.

        Raises UnreadablePackError if the store gives the version's root again and again but not
        this pack; StoreError if it is away.
        """
        key = self._prefix + pack_key(pack.hex())
        try:
            yield from self._objects.views(key, retried=False, chunk_bytes=_CHUNK_BYTES)
        except StoreError as exc:
            if self._is_lost(pack.hex(), key):
                reason = "The object store cannot read it, while it reads other objects."
                raise UnreadablePackError(pack.hex(), reason) from exc
            raise

    def _is_lost(self, digest: str, key: str) -> bool:
        scratch = self._prefix + copy_check_key(digest)
        for check in range(_CHECKS):
            # A store that is just starting may answer for one object before the other.
            time.sleep(_BETWEEN_CHECKS_S if check else 0)
            if not self._objects.fails_at(key, witness=self._witness, scratch=scratch):
                return False
        return True
