"""Versions name a good pack once files of a corrupt one are sent again; no content changes.

A manifest never changes, and it names the packs. So versions that name the corrupt pack get a
layout, as by compaction: a new manifest with the same content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import structlog

from atom.accounts.models import Project
from atom.core.background import enqueue
from atom.datasets.catalog.stores import VersionStore, version_store
from atom.datasets.commits.engines.repair import PLACES, PackRepair
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import Pack, Version
from atom.datasets.packs.actions.layouts import note_layout
from atom.datasets.packs.corrupt_packs import root_to_build_on
from atom.datasets.packs.pipelines import read_pack_index
from atom.datasets.versions.engines.spilled import Entries, tables_of
from atom_sdk.errors import ManifestError, ObjectNotFoundError
from atom_sdk.manifests.entries import DIGEST, ENTRY_SCHEMA
from atom_sdk.manifests.roots.roots import write_root

log = structlog.get_logger(__name__)

_TASK = "atom.datasets.tasks.repair_versions"
# By then most of what was being built upon the old manifests is there.
_LOOKS_AGAIN_S = 120.0
_DAMAGED = pa.schema([("path", pa.string()), ("digest", DIGEST)])


def repair_with(project: Project, puts: Entries) -> int:
    """Have versions read the files that are put from their new packs; returns how many changed.

    `puts` are checked against their packs. Here we look where such files are now, and where they
    were when the corrupt pack came; a worker looks at all others later. The caller holds `hold_gc`.
    """
    packs, damaged = _damaged(project)
    if not len(damaged):
        return 0
    sent = _joined(ENTRY_SCHEMA, _of_contents(damaged["digest"], tables_of(puts)))
    if not len(sent):
        return 0
    were = _of_contents(sent["digest"], [damaged])
    paths = {path for table in (sent, *were) for path in table["path"].to_pylist()}
    repair = PackRepair(packs, sent.select(PLACES.names), version_store(project).store)
    count = _repair(project, repair, paths)
    if count:
        good = [pack.hex() for pack in sorted(sent["pack"].unique().to_pylist())]
        enqueue(_TASK, str(project.pk), good, countdown_s=_LOOKS_AGAIN_S)
    return count


def repaired_meanwhile(version: Version) -> bool:
    """Return whether the version may have been repaired since it was read, and read it again.

    A root that was built on the old one names the corrupt packs.
    """
    before = root_to_build_on(version)
    version.refresh_from_db(fields=["layout", "is_repacked"])
    return root_to_build_on(version) != before


def repair_everywhere(project_id: UUID | str, good: Sequence[str] | None = None) -> int:
    """Point versions at these packs (hex), or at all, for files that they name in corrupt ones.

    All paths of all versions are looked at. Repeatable; returns how many versions changed.
    """
    project = Project.objects.get(pk=project_id)
    with hold_gc(project):
        packs, damaged = _damaged(project)
        if not len(damaged):
            return 0
        there = Pack.objects.filter(project=project, state="verified")
        there = there if good is None else there.filter(digest__in=good)
        digests = there.order_by("digest").values_list("digest", flat=True)
        indexes = (_places_in(project, digest) for digest in digests)
        places = _joined(PLACES, _of_contents(damaged["digest"], indexes))
        if not len(places):
            return 0
        return _repair(project, PackRepair(packs, places, version_store(project).store), None)


def _damaged(project: Project) -> tuple[list[bytes], pa.Table]:
    """Return the corrupt packs that versions may name, and the files in them.

    Those that never were verified have no index: no version ever named them.
    """
    store = version_store(project).store
    packs, found = [], []
    rows = Pack.objects.filter(project=project, state="quarantined")
    for digest in rows.values_list("digest", flat=True):
        try:
            index = read_pack_index(store, digest)
        except ObjectNotFoundError:
            continue
        packs.append(bytes.fromhex(digest))
        found.append(index.select(_DAMAGED.names).cast(_DAMAGED))
    return packs, _joined(_DAMAGED, found)


def _places_in(project: Project, digest: str) -> pa.Table:
    index = read_pack_index(version_store(project).store, digest)
    pack = pa.repeat(pa.scalar(bytes.fromhex(digest), DIGEST), len(index))
    return index.append_column("pack", pack).select(PLACES.names).cast(PLACES)


def _of_contents(contents: pa.ChunkedArray, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    wanted = contents.combine_chunks()
    return (table.filter(pc.is_in(table["digest"], value_set=wanted)) for table in tables)


def _joined(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _repair(project: Project, repair: PackRepair, paths: Collection[str] | None) -> int:
    # Also what expired or was deleted: it can be restored.
    versions = Version.objects.filter(dataset__project=project).exclude(state="collected")
    store, count = version_store(project), 0
    for version in versions.select_related("dataset__project").order_by("-created_at").iterator():
        try:
            count += _repair_version(version, repair, paths, store)
        except (ManifestError, ObjectNotFoundError) as error:
            log.warning("version_not_mended", version=str(version.pk), error=str(error))
    return count


def _repair_version(
    version: Version, repair: PackRepair, paths: Collection[str] | None, store: VersionStore
) -> bool:
    while (root := repair.repaired(store.root(version.readable_root), paths)) is not None:
        layout = write_root(root, store.store).hex()
        if note_layout(version, layout):
            log.info("version_mended", version=str(version.pk), layout=layout)
            return True
        # It was compacted, repacked, or repaired for another push meanwhile.
        version.refresh_from_db(fields=["layout", "is_repacked"])
    return False
