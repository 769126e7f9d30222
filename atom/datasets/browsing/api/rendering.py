"""Entries as JSON, with signed addresses of their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from atom.accounts.models import Project
from atom.core.media import media_url
from atom.core.storage import project_prefix
from atom.datasets.browsing.engines.browse import Row, VersionBrowser
from atom.datasets.browsing.engines.diff_pages import Difference
from atom.datasets.browsing.engines.drawn_objects import changed_objects, listed
from atom.datasets.keys import pack_key
from atom.datasets.packs.engines.images import is_raster_image
from atom.datasets.packs.media_pins import registered_url

THUMB_WIDTH_PX = 256


class EntryRenderer:
    """Renders the entries of one project."""

    def __init__(self, project: Project) -> None:
        """The caller has been let into the project: the addresses are readable by anyone."""
        self._prefix = project_prefix(project)

    def render(self, row: Row, annotations: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return an entry as the API shows it, with what is drawn on it."""
        media_type = row["media_type"] or "application/octet-stream"
        return {
            "path": row["path"],
            "size_bytes": row["size"],
            "digest": row["digest"].hex(),
            "media_type": media_type,
            "label": row["label"],
            "split": row["split"],
            "attributes": row["attributes"],
            "media_url": self._url(row, media_type, 0),
            "thumb_url": self.thumb_url(row),
            "link": _link(row),
            "annotations": annotations,
        }

    def render_page(self, browser: VersionBrowser, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return entries, which are in path order, with a few objects each."""
        drawn = browser.drawn(rows)
        return [self.render(row, listed(drawn.get(row["path"]))) for row in rows]

    def render_at(self, browser: VersionBrowser, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the entries that are there by path, with a few objects each."""
        found = [row for row in map(browser.find, sorted(set(paths))) if row is not None]
        return {row["path"]: row for row in self.render_page(browser, found)}

    def thumb_url(self, row: Row) -> str | None:
        """Return where the entry's small picture is; None for what is no picture.

        A link to a picture has the one of its file.
        """
        if row["link"] is not None:
            end = row.get("end")
            return self.thumb_url(end.file) if end and end.file else None
        media_type = row["media_type"] or "application/octet-stream"
        width = THUMB_WIDTH_PX
        return self._url(row, media_type, width) if is_raster_image(media_type) else None

    def _url(self, row: Row, media_type: str, width: int) -> str:
        if row["link"] is not None:
            return ""
        if row["pack"] is None:
            return registered_url(row, media_type, width)
        return media_url(
            self._prefix + pack_key(row["pack"].hex()),
            row["offset"],
            row["size"],
            media_type,
            digest=row["digest"].hex(),
            name=row["path"],
            width=width,
        )


def _link(row: Row) -> dict[str, Any] | None:
    if row["link"] is None:
        return None
    lead = row["lead"]
    return {
        "target": row["link"],
        "leads_to": lead.path,
        "leaves": lead.leaves,
        "kind": row["end"].kind,
    }


def render_differences(
    differences: Sequence[Difference],
    browsers: tuple[VersionBrowser, VersionBrowser],
    renderer: EntryRenderer,
) -> list[dict[str, Any]]:
    """Return differences with the entries of both sides, as far as there are any.

    Objects are read once for each side, for many rows lie in one group of their layer.
    """
    old_browser, new_browser = browsers
    old = [
        old_browser.find(each.old_path) if each.old_path is not None else None
        for each in differences
    ]
    new = [new_browser.find(each.path) if each.kind != "removed" else None for each in differences]
    was, is_now = _drawn(old_browser, old), _drawn(new_browser, new)
    return [
        _render_difference(difference, (before, after), (was, is_now), renderer)
        for difference, before, after in zip(differences, old, new, strict=True)
    ]


def _drawn(browser: VersionBrowser, rows: Sequence[Row | None]) -> dict[str, Row]:
    """Return what is drawn on the entries, by path; those of a renaming are in another order."""
    return browser.drawn(sorted((row for row in rows if row), key=lambda row: row["path"]))


def _render_difference(
    difference: Difference,
    entries: tuple[Row | None, Row | None],
    drawn: tuple[dict[str, Row], dict[str, Row]],
    renderer: EntryRenderer,
) -> dict[str, Any]:
    old, new = entries
    was, is_now = (
        by_path.get(row["path"]) if row else None
        for by_path, row in zip(drawn, entries, strict=True)
    )
    return {
        "kind": difference.kind,
        "path": difference.path,
        "old_path": difference.old_path if difference.kind == "renamed" else None,
        "old": renderer.render(old, listed(was)) if old else None,
        "new": renderer.render(new, listed(is_now)) if new else None,
        "objects": changed_objects(was, is_now),
    }
