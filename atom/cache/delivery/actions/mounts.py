"""Delivery of a version to a job as a mounted folder, or as a view that the job streams.

Layout below `<cache>/attempts/<attempt>/<alias>/`: `view.arrow` and `packs/` as every job has them,
and `files/`, the mounted folder. A streaming job writes fetched packs beside the links, in the
layout of a PackStore. They are removed with the attempt, or handed to the next one of its run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import structlog

from atom.cache.backends.base import ViewPath
from atom.cache.backends.local.paths import (
    cache_root,
    job_view,
    job_views,
    mounted_folder,
    pack_store,
)
from atom.cache.delivery.engines.stream_handover import inherit
from atom.cache.engines.links import close_to, link_file, open_to, packs_of_view
from atom.datasets.models import Version
from atom_sdk.mount import MountOptions, MountRecord, mount, mounted_below, unmount
from atom_sdk.mount.errors import AlreadyMountedError, MountError, NotMountedError
from atom_sdk.packs.store import PackStore
from atom_sdk.readers import LocalDataset

log = structlog.get_logger(__name__)


def mount_for_job(version: Version, attempt_id: UUID, alias: str) -> MountRecord:
    """Show what was linked for an attempt as a read-only folder too; safe to repeat.

    Links that lead out of the version are never made: they would show this machine to the job.
    Raises what `atom_sdk.mount.mount` does.
    """
    shown, folder = job_view(attempt_id, alias), mounted_folder(attempt_id, alias)
    cache = pack_store(version.dataset.project).root
    dataset = LocalDataset(shown.index_path, shown.pack_dir)
    reference = f"{version.dataset.name}@{version.ref}"
    modified_at_s = int(version.created_at.timestamp())
    options = MountOptions(modified_at_s=modified_at_s, unsafe_links=False)
    if not folder.exists():
        folder.mkdir()
        # Set the mode apart, since the umask of this process may be stricter.
        folder.chmod(0o755)
    try:
        return mount(dataset, folder, cache, reference, options)
    except AlreadyMountedError:
        # By a worker that died before it started the supervisor.
        return next(one for one in mounted_below(folder, cache) if one.folder == str(folder))


def unmount_from_job(attempt_id: UUID) -> bool:
    """Take away an attempt's folders; False if one is still in use. Safe to repeat."""
    views = Path(os.path.realpath(job_views(attempt_id)))
    done = True
    for cache in _project_caches():
        for record in mounted_below(views, cache):
            try:
                unmount(Path(record.folder), cache)
            except NotMountedError:
                continue
            except (MountError, OSError) as error:
                log.warning("unmount_failed", folder=record.folder, error=str(error))
                done = False
    return done


def attempts_with_mounts() -> Iterator[UUID]:
    """Yield the attempts for which something is mounted, or was before a restart."""
    attempts = Path(os.path.realpath(cache_root() / "attempts"))
    found = set()
    for cache in _project_caches():
        for record in mounted_below(attempts, cache):
            found.add(Path(record.folder).relative_to(attempts).parts[0])
    yield from (UUID(name) for name in sorted(found))


def _project_caches() -> list[Path]:
    return [path.parent for path in cache_root().glob("*-*-*-*-*/mounts")]


def link_present(
    view: ViewPath, attempt_id: UUID, alias: str, gid: int | None, earlier: Iterable[UUID] = ()
) -> ViewPath:
    """Link a view index, and those of its packs that are here, into a store that the job fills.

    Links cost nothing: a file with several names does not count against what the job may keep. The
    store takes over what ended attempts of the run (`earlier`) fetched.
    """
    shown = job_view(attempt_id, alias)
    store = PackStore(shown.index_path.parent)
    link_file(view.index_path, shown.index_path)
    for digest in packs_of_view(view.index_path):
        with suppress(FileNotFoundError):
            link_file(view.pack_dir / f"{digest}.tar", store.packs / f"{digest}.tar")
    for other in earlier:
        if moved := inherit(job_view(other, alias).index_path.parent, store.root, gid):
            log.info("stream_inherited", attempt=str(attempt_id), earlier=str(other), files=moved)
    if gid is not None:
        for folder in (store.root, *(path for path in store.root.iterdir() if path.is_dir())):
            os.chown(folder, gid, gid)
            folder.chmod(0o700)
    return shown


def open_job_folder(attempt_id: UUID, gid: int | None) -> None:
    """Let the attempt's group into its folder, and out of those of others. None: nothing to do."""
    if gid is not None:
        folder = job_views(attempt_id)
        open_to(gid, folder, cache_root())
        close_to(gid, folder.parent, but=folder.name)
