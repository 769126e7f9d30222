"""Links to packs for the attempts of jobs, which see nothing else of the cache."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from uuid import UUID

from atom.cache.backends.base import Selector, ViewPath
from atom.cache.backends.local.paths import cache_root, job_view, job_views
from atom.cache.backends.local.views import streamed_view
from atom.cache.delivery.actions.mounts import link_present, open_job_folder, unmount_from_job
from atom.cache.delivery.engines.stream_handover import keep_fetched
from atom.cache.engines.links import link_view
from atom.datasets.models import Version


def show_to_job(view: ViewPath, attempt_id: UUID, alias: str, gid: int | None) -> ViewPath:
    """Link one view with its packs for an attempt, whose processes have the group `gid`.

    The rest of the cache is closed to them. That is other projects' packs, and other views of the
    version, such as one with labels of the test split. Without `gid` jobs run as the server does,
    and nothing is closed. Safe to repeat. Raises OSError.
    """
    shown = job_view(attempt_id, alias)
    link_view(view.index_path, view.pack_dir, shown.index_path.parent)
    open_job_folder(attempt_id, gid)
    return shown


def stream_to_job(
    version: Version,
    attempt_id: UUID,
    alias: str,
    selector: Selector,
    gid: int | None,
    earlier: Iterable[UUID] = (),
) -> ViewPath:
    """Give an attempt the view index and the packs that are here; it fetches the others itself.

    It takes over what `earlier` attempts of its run fetched; none of their processes may live. This
    call brings nothing to the node and does not wait. Raises SelectionEmpty, OSError.
    """
    shown = link_present(streamed_view(version, selector), attempt_id, alias, gid, earlier)
    open_job_folder(attempt_id, gid)
    return shown


def attempts_shown_to() -> Iterator[UUID]:
    """Yield the attempts that have links to packs."""
    for folder in (cache_root() / "attempts").glob("*-*-*-*-*"):
        with suppress(ValueError):
            yield UUID(folder.name)


def hide_from_job(attempt_id: UUID) -> None:
    """Remove an ended attempt's folders and links, so that an eviction frees its packs.

    Safe to repeat: a folder that is still in use stays for the next time.
    """
    if unmount_from_job(attempt_id):
        shutil.rmtree(job_views(attempt_id), ignore_errors=True)


def set_streams_aside(attempt_id: UUID, aliases: set[str]) -> None:
    """Keep of an ended attempt what it fetched of these datasets, for the next one of its run.

    Safe to repeat: without anything fetched, the whole folder goes.
    """
    views = job_views(attempt_id)
    if not unmount_from_job(attempt_id) or not views.is_dir():
        return
    # The next job of the slot has the user of this one, and may be of another run.
    views.chmod(0o700)
    if not keep_fetched(views, aliases):
        shutil.rmtree(views, ignore_errors=True)
