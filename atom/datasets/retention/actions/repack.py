"""Repacks files of packs that are mostly garbage, or of many small packs.

The bytes that versions need are copied into new packs, and every version gets a layout that names
these: its content, and so its content digest, stays. The old packs are then needed by nobody, and
go as all garbage does, after the undo window. A worker that dies in between leaves garbage.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import structlog

from atom.accounts.models import Project
from atom.core import storage
from atom.core.crash_points import reach
from atom.datasets import keys
from atom.datasets.catalog.stores import VersionStore, version_store
from atom.datasets.commits.engines.repair import PLACES, PackRepair
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import Branch, Pack, Version
from atom.datasets.packs.actions.layouts import note_layout
from atom.datasets.packs.engines.pack_index import encode_index
from atom.datasets.packs.pipelines import read_pack_index
from atom.datasets.retention.engines.pack_use import Needed, PackUse, worth_packing
from atom.datasets.retention.engines.repack import NewPack, TakenFiles
from atom.datasets.retention.garbage_roots import GarbageRules, leased_packs
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.roots.roots import write_root

log = structlog.get_logger(__name__)

_LOOKED_AT = ("path", "pack", "offset", "size")


@dataclass(frozen=True)
class PackingPlan:
    """Packs (digests) that are worth repacking, and the needed part of them."""

    needed: dict[bytes, Needed]
    size_bytes: int

    @property
    def needed_bytes(self) -> int:
        """Return what the new packs will take."""
        return sum(each.packed_bytes for each in self.needed.values())


def plan_repacking(project: Project, rules: GarbageRules, folder: Path) -> PackingPlan:
    """Look through all versions for packs that are worth repacking; changes nothing.

    Packs of late pushes are left alone, and what does not fit on the disk of `folder` twice.
    Raises ObjectNotFoundError or ManifestCorruptError.
    """
    use, store, seen = PackUse(), version_store(project), set()
    for group, digest in _grouped_roots(project):
        for part in store.root(digest).ranges:
            if part.layout not in seen:
                seen.add(part.layout)
                use.add(read_range(part, store.store, _LOOKED_AT), group)
    verified = Pack.objects.filter(project=project, state="verified")
    leased = set(leased_packs(project, rules.grace))
    sizes = {
        bytes.fromhex(digest): size
        for digest, size in verified.values_list("digest", "size_bytes").iterator()
        if digest not in leased
    }
    needed = dict(use.needed())
    room_bytes = min(rules.packing.pass_bytes, shutil.disk_usage(folder).free // 3)
    chosen = worth_packing(sizes, needed, replace(rules.packing, pass_bytes=room_bytes))
    return PackingPlan({pack: needed[pack] for pack in chosen}, sum(sizes[pack] for pack in chosen))


def _grouped_roots(project: Project) -> Iterator[tuple[int, str]]:
    """Yield the roots from which versions are read, by group.

    Each dataset has two groups: what the heads of its branches need, and what only earlier versions
    do. A node that warms a head then fetches no file that only earlier versions need.
    """
    branches = Branch.objects.filter(dataset__project=project, head__isnull=False)
    heads = set(branches.values_list("head_id", flat=True))
    versions = Version.objects.filter(dataset__project=project).exclude(state="collected")
    rows = versions.only("dataset_id", "root", "layout").order_by("-created_at", "pk").iterator()
    found = [(row.dataset_id, row.pk not in heads, row.readable_root) for row in rows]
    numbers = {name: number for number, name in enumerate(sorted({one[:2] for one in found}))}
    # The sort keeps the newest first within a group.
    for dataset, is_past, root in sorted(found, key=lambda one: one[:2]):
        yield numbers[dataset, is_past], root


def repack(project: Project, plan: PackingPlan, folder: Path) -> int:
    """Carry a plan out, in files of `folder`; returns how many versions have another layout.

    Raises what reading packs and manifests does; then versions are read as before.
    """
    if not plan.needed:
        return 0
    store = version_store(project)
    with hold_gc(project), TakenFiles(folder) as taken:
        for pack, needed in plan.needed.items():
            key = f"{store.store.prefix}{keys.pack_key(pack.hex())}"
            index = read_pack_index(store.store, pack.hex())
            taken.take(pack.hex(), index, needed, partial(storage.objects().get_range, key))
        new = [_published(project, pack, store) for pack in taken.packs()]
        reach("repacking.published")
        places = pa.concat_tables([PLACES.empty_table(), *new])
        return sum(_moved(project, PackRepair(plan.needed, places, store.store), store))


def _published(project: Project, pack: NewPack, store: VersionStore) -> pa.Table:
    """Put a pack into the bucket, its index first; returns where its contents are."""
    digest = pack.summary.digest
    store.store.put(keys.pack_index_key(digest.hex()), encode_index(pack.index))
    with pack.path.open("rb") as file:
        storage.objects().put(f"{store.store.prefix}{keys.pack_key(digest.hex())}", file)
    facts = {"size_bytes": pack.summary.size_bytes, "state": "verified", "reason": ""}
    Pack.objects.update_or_create(project=project, digest=digest.hex(), defaults=facts)
    named = pa.repeat(pa.scalar(digest, DIGEST), len(pack.index))
    return pack.index.append_column("pack", named).select(PLACES.names).cast(PLACES)


def _moved(project: Project, repair: PackRepair, store: VersionStore) -> Iterator[bool]:
    """Give versions their layouts, also what expired or was deleted: it can be restored."""
    versions = Version.objects.filter(dataset__project=project).exclude(state="collected")
    for version in versions.select_related("dataset__project").order_by("-created_at").iterator():
        try:
            yield _is_moved(version, repair, store)
        except SdkError as error:
            # It goes on naming the old packs, which stay for that reason.
            log.warning("version_not_repacked", version=str(version.pk), error=str(error))


def _is_moved(version: Version, repair: PackRepair, store: VersionStore) -> bool:
    while (root := repair.repaired(store.root(version.readable_root))) is not None:
        layout = write_root(root, store.store).hex()
        reach("repacking.written")
        if note_layout(version, layout, is_repacked=True):
            log.info("version_repacked", version=str(version.pk), layout=layout)
            reach("repacking.noted")
            return True
        # It was compacted or repaired meanwhile.
        version.refresh_from_db(fields=["layout", "is_repacked"])
    return False
