"""Saved views: named questions about a dataset, asked of any of its versions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from atom_sdk.client.errors import ApiError, RefSyntaxError
from atom_sdk.client.transport.http import Http
from atom_sdk.manifests.query import both, parse_query

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets

_NARROWED = re.compile(r"(?P<reference>(?:atom://[^/?]+/)?[^/?]+)\?view=(?P<view>[^/?&=]+)")
Row = dict[str, Any]


class Views:
    """The views of one project's datasets. A view is {name, where, prefix, splits, query}."""

    def __init__(self, http: Http, datasets: Datasets) -> None:
        self._http = http
        self._datasets = datasets

    def list(self, dataset: str) -> list[Row]:
        """Return the views by name."""
        return list(self._http.pages(self._address(dataset)))

    def get(self, dataset: str, name: str) -> Row:
        """Return one view; its `query` is all that it asks. Raises ApiError (view_not_found)."""
        found: Row = self._http.get(self._address(dataset, name))
        return found

    def save(
        self,
        dataset: str,
        name: str,
        where: str = "",
        prefix: str = "",
        splits: Sequence[str] = (),
        *,
        replace: bool = False,
    ) -> Row:
        """Save a question under a name; with `replace`, also where there is another already.

        Raises ApiError: view_name_taken, query_invalid, view_empty.
        """
        asked = {"where": where, "prefix": prefix, "splits": [*splits]}
        try:
            saved: Row = self._http.post(self._address(dataset), {"name": name, **asked})
        except ApiError as error:
            if error.code != "view_name_taken" or not replace:
                raise
            return self.change(dataset, name, **asked)
        return saved

    def change(self, dataset: str, view: str, /, **fields: Any) -> Row:
        """Change `name`, `where`, `prefix` or `splits` of a view; the rest stays."""
        changed: Row = self._http.request("PATCH", self._address(dataset, view), json=fields)
        return changed

    def remove(self, dataset: str, name: str) -> Row:
        """Take a view away and return what it was, to save it again. Runs keep what it asked."""
        view = self.get(dataset, name)
        self._http.delete(self._address(dataset, name))
        return view

    def resolve(self, reference: str, selector: Mapping[str, Any]) -> tuple[str, Row]:
        """Return the plain reference, and the selector with what the view asks in its `where`.

        A view is named by `digits@v3?view=cats` or by `view=` of the selector. Raises
        RefSyntaxError if both name one, QueryError.
        """
        found = {key: value for key, value in selector.items() if key != "view"}
        plain, name = split_view(reference)
        given = selector.get("view") or ""
        if name and given and name != given:
            raise RefSyntaxError(f"{reference!r} names another view than {given!r}.")
        if name or given:
            query = parse_query(self.get(plain, name or given)["query"])
            where = found.get("where")
            found["where"] = str(both(query, parse_query(where)) if where else query)
        return plain, found

    def _address(self, reference: str, name: str = "") -> str:
        base = f"{self._datasets.base(reference)}views/"
        return f"{base}{quote(name, safe='')}/" if name else base


def split_view(reference: str) -> tuple[str, str]:
    """Return the reference and the view of `digits@v3?view=cats`; "" without one."""
    match = _NARROWED.fullmatch(reference)
    return (match["reference"], match["view"]) if match else (reference, "")
