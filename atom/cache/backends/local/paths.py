"""Paths of packs, views and attempts' folders in the cache of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from stat import S_IMODE
from uuid import UUID

from django.conf import settings

from atom.accounts.models import Project
from atom.cache.backends.base import ViewPath
from atom.cache.engines.links import VIEW_NAME
from atom.cache.engines.selectors import view_id
from atom.datasets.catalog.reads import open_root
from atom.datasets.models import Version
from atom_sdk.manifests.views import ViewSelector
from atom_sdk.packs.store import PackStore

_CLOSED = 0o700


def cache_root() -> Path:
    """Return the folder of everything cached on this machine."""
    return Path(settings.ATOM_HOME) / "cache"


def pack_store(project: Project) -> PackStore:
    """Return a project's packs on this machine."""
    store = PackStore(cache_root() / str(project.pk))
    # Closed to jobs: they get links to what is theirs, see `job_view`. A disk that turned read-only
    # still gives what it has, and takes no mode, not even the same.
    if S_IMODE(store.root.stat().st_mode) != _CLOSED:
        store.root.chmod(_CLOSED)
    return store


def view_path(version: Version, selector: ViewSelector, own_packs: Iterable[str] = ()) -> ViewPath:
    """Return where a view is, or would be; `own_packs` hold what stays at a source."""
    folder = cache_root() / str(version.dataset.project_id)
    name = f"{view_id(open_root(version), selector, own_packs)}.arrow"
    return ViewPath(folder / "views" / name, folder / "packs")


def job_views(attempt_id: UUID) -> Path:
    """Return the folder in which one attempt finds its datasets; beside the packs to link them."""
    return cache_root() / "attempts" / str(attempt_id)


def mounted_folder(attempt_id: UUID, alias: str) -> Path:
    """Return where an attempt finds a dataset as an ordinary folder, if it asked for that."""
    return job_views(attempt_id) / alias / "files"


def job_view(attempt_id: UUID, alias: str) -> ViewPath:
    """Return where an attempt finds one of its datasets."""
    folder = job_views(attempt_id) / alias
    return ViewPath(folder / VIEW_NAME, folder / "packs")
