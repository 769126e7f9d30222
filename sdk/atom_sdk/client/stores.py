"""Second stores from Python: buckets that hold replicas of versions."""

from __future__ import annotations

import builtins
from typing import Any
from urllib.parse import quote

from atom_sdk.client.transport.http import Http

Row = dict[str, Any]
_BASE = "stores/"


class Stores:
    """`Client().stores`; only administrators of the installation change stores."""

    def __init__(self, http: Http) -> None:
        """Stores of the installation."""
        self._http = http

    def list(self) -> builtins.list[Row]:
        """Return the second stores by name, with their fees per GiB."""
        return [*self._http.pages(_BASE)]

    def get(self, name: str) -> Row:
        """Return one store."""
        row: Row = self._http.get(_path(name))
        return row

    def add(self, name: str, endpoint: str, bucket: str, **options: Any) -> Row:
        """Add a store, if Atom can write, list, read and delete there.

        Options: access_key_id and secret_access_key (both are needed), session_token, prefix,
        region, the fees of `change`. Raises ApiError, such as `store_denied`.
        """
        body = {"name": name, "endpoint": endpoint, "bucket": bucket, **options}
        row: Row = self._http.post(_BASE, body)
        return row

    def change(self, name: str, **options: Any) -> Row:
        """Change fees or keys; new keys are checked first.

        Options: egress_per_gib, write_per_gib, keep_per_gib_month (text; None: unknown), currency,
        access_key_id with secret_access_key, session_token.
        """
        row: Row = self._http.request("PATCH", _path(name), json=options)
        return row

    def check(self, name: str) -> Row:
        """Write, list, read and delete a small object; the `problem` says why it failed."""
        row: Row = self._http.post(f"{_path(name)}check/")
        return row

    def remove(self, name: str) -> None:
        """Forget a store without replicas. Raises ApiError, such as `store_in_use`."""
        self._http.delete(_path(name))


def _path(name: str) -> str:
    return f"{_BASE}{quote(name, safe='')}/"
