"""Projects: list those that the token sees, and add one."""

from __future__ import annotations

from typing import Any

from atom_sdk.client.transport.http import Http

Row = dict[str, Any]


class Projects:
    """The projects of an installation. A project is {slug, name, unit, created_at, …}."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[Row]:
        """Return the projects that the token sees, by slug."""
        return list(self._http.pages("projects/"))

    def create(self, slug: str, name: str | None = None, unit: str | None = None) -> Row:
        """Add a project; `unit` is the id of a unit, by default the only one that you administer.

        Raises ApiError: already_exists, or invalid where you administer no unit or several.
        """
        given = {"slug": slug, "name": name or slug, "unit": unit}
        body = {key: value for key, value in given.items() if value is not None}
        made: Row = self._http.post("projects/", body)
        return made
