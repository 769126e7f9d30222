"""The cache of this machine: packs and view indexes in a folder, see `atom.cache.engines.fill`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection
from contextlib import suppress

from django.conf import settings

from atom.accounts.models import Project
from atom.cache.backends.base import CacheBackend, Coverage, Report, Selector, ViewPath
from atom.cache.backends.local.external_objects import (
    fill_registered,
    forget_registered,
    noted_packs,
    registered_bytes,
    registered_packs,
)
from atom.cache.backends.local.pack_origin import PackOrigin
from atom.cache.backends.local.paths import cache_root, pack_store, view_path
from atom.cache.backends.local.views import ready_view
from atom.cache.engines.fill import REPORT_EVERY_S, FillPlan, FillProgress, fill
from atom.cache.engines.selectors import view_selector
from atom.clusters.models import Node
from atom.datasets.catalog.reads import packs_named_by, packs_of
from atom.datasets.models import Pack, Version
from atom_sdk.errors import ManifestError, ObjectNotFoundError
from atom_sdk.packs.store import covered_packs

# Stands for objects at a source that were never fetched.
_NOWHERE = "0" * 64


class LocalBackend(CacheBackend):
    """Holds versions below ATOM_HOME on the machine that runs this process."""

    def __init__(self, node: Node) -> None:
        """`node` is this machine's."""
        self.node = node

    def measure(self, version: Version) -> Coverage:
        """Look which packs of the version are in the folder."""
        digests = packs_of(version)
        sizes = _pack_sizes(version, digests)
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

    def fill(self, version: Version, report: Report) -> None:
        """Bring the packs of the object store, then those of objects at a source."""
        store = pack_store(version.dataset.project)
        packs = [bytes.fromhex(digest) for digest in packs_of(version)]
        stored = fill(store, FillPlan(packs, PackOrigin(version).stream), report)
        own = registered_packs(version)
        if own is None or store.missing([bytes.fromhex(digest) for digest in own]):
            _fill_from_sources(version, stored, report)

    def needed_packs(self, version: Version) -> set[str]:
        """Return the version's packs, and those of objects at a source that this machine made."""
        return {*packs_of(version), *(registered_packs(version) or ())}

    def remove(self, version: Version, kept: Collection[str]) -> None:
        """Remove the version's packs, except those of `kept` (hex)."""
        store = pack_store(version.dataset.project)
        own = set(noted_packs(version) or ())
        try:
            packs = own.union(packs_named_by(version))
        except (ManifestError, ObjectNotFoundError):
            # Without a manifest nothing names its packs: all go that no other version needs.
            packs = own = store.present()
        for digest in packs - set(kept):
            store.remove(bytes.fromhex(digest))
            if digest in own:
                forget_registered(version, digest)

    def remove_pack(self, project: Project, digest: str) -> None:
        """Remove one pack (hex), which may be absent."""
        pack_store(project).remove(bytes.fromhex(digest))

    def has_view(self, version: Version, selector: Selector) -> bool:
        """Return whether the view index was written."""
        view = view_path(version, view_selector(selector), registered_packs(version) or ())
        return view.index_path.exists()

    def write_view(self, version: Version, selector: Selector) -> ViewPath:
        """Write the view index unless it is there."""
        return ready_view(version, selector)

    def used_bytes(self) -> int:
        """Return the bytes of all packs in the folder."""
        sizes = 0
        for path in cache_root().glob("*/packs/*.tar"):
            with suppress(FileNotFoundError):  # an eviction removes packs meanwhile
                sizes += path.stat().st_size
        return sizes

    def limit_bytes(self) -> int:
        """Return the setting; without one, what the disk could give the cache."""
        configured: int | None = getattr(settings, "ATOM_CACHE_LIMIT_BYTES", None)
        if configured:
            return configured
        root = cache_root()
        root.mkdir(parents=True, exist_ok=True)
        return shutil.disk_usage(root).free + self.used_bytes()


def _fill_from_sources(version: Version, stored: FillProgress, report: Report) -> None:
    """Fetch objects at a source; the report counts on from what came of the object store."""
    began = reported_at = time.monotonic()
    packs_done, bytes_done = stored.packs_done, stored.bytes_done

    def count(packs: int, size_bytes: int) -> None:
        nonlocal packs_done, bytes_done, reported_at
        packs_done += packs
        bytes_done += size_bytes
        now = time.monotonic()
        if now - reported_at >= REPORT_EVERY_S:
            reported_at = now
            rate_bytes_s = (bytes_done - stored.bytes_done) / max(now - began, 1e-3)
            report(FillProgress(packs_done, bytes_done, int(rate_bytes_s)))

    fill_registered(version, count)


def _pack_sizes(version: Version, digests: list[str]) -> dict[str, int]:
    """Return the size of each pack in bytes."""
    packs = Pack.objects.filter(project=version.dataset.project, digest__in=digests)
    return dict.fromkeys(digests, 0) | dict(packs.values_list("digest", "size_bytes"))
