"""Where in the portal a notification leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from atom.notifications.events import KINDS


def path_of(kind: str, data: Mapping[str, Any], project: str = "") -> str:
    """Return the path of the page, with the project's slug; the overview if a name is missing."""
    said = {name: quote(str(value), safe="") for name, value in data.items()}
    try:
        path = KINDS[kind].path.format_map(said)
    except KeyError:
        path = "/"
    if not project:
        return path
    return f"{path}{'&' if '?' in path else '?'}project={quote(project, safe='')}"
