"""Where the `local` engine keeps things on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from atom.accounts.models import Project
from atom.cache.engines.selectors import view_id
from atom.datasets.models import Version
from atom.datasets.reads import open_root
from atom_sdk.manifests.views import ViewSelector
from atom_sdk.packs.store import PackStore


@dataclass(frozen=True)
class ViewPath:
    """What a reader opens: a view index, and the folder with the packs that it points into."""

    index_path: Path
    pack_dir: Path


def cache_root() -> Path:
    """Return the folder of everything cached on this machine."""
    return Path(settings.ATOM_HOME) / "cache"


def pack_store(project: Project) -> PackStore:
    """Return a project's packs on this machine: visible inside its project only."""
    return PackStore(cache_root() / str(project.pk))


def view_path(version: Version, selector: ViewSelector) -> ViewPath:
    """Return where a view is, or would be."""
    folder = cache_root() / str(version.dataset.project_id)
    name = f"{view_id(open_root(version), selector)}.arrow"
    return ViewPath(folder / "views" / name, folder / "packs")
