"""Replicas from Python: versions in second stores, before runs need them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from atom_sdk.client.transport.http import Http

Row = dict[str, Any]


class Replicas:
    """`Client().datasets.replicas`."""

    def __init__(self, http: Http, project: str, version_base: Callable[[str], str]) -> None:
        """Replicas of one project; `version_base` gives the address of a reference."""
        self._http, self._base = http, f"projects/{quote(project, safe='')}/replicas/"
        self._version_base = version_base

    def list(self) -> builtins.list[Row]:
        """Return the project's replicas, newest first."""
        return [*self._http.pages(self._base)]

    def of(self, reference: str) -> builtins.list[Row]:
        """Return the replicas of a version, newest first."""
        rows: builtins.list[Row] = self._http.get(f"{self._version_base(reference)}replicas/")
        return rows

    def preview(self, reference: str, store: str) -> Row:
        """Return the bytes that a store lacks, and their price. Raises ApiError."""
        answer: Row = self._http.get(
            f"{self._version_base(reference)}replica-preview/", store=store
        )
        return answer

    def start(self, reference: str, store: str, **options: Any) -> Row:
        """Have a version copied into a second store and return its replica.

        Options: pinned, or ends_at (ISO 8601); rate_bytes_s. Raises ApiError, such as
        `replica_present`.
        """
        replica: Row = self._http.post(
            f"{self._version_base(reference)}replicas/", {"store": store, **options}
        )
        return replica

    def get(self, reference: str, store: str) -> Row:
        """Return the replica of a version in a store. Raises ApiError."""
        replica: Row = self._http.get(self._of(reference, store))
        return replica

    def change(self, reference: str, store: str, **end: Any) -> Row:
        """Pin a replica (pinned=True) or give it another end (ends_at)."""
        replica: Row = self._http.request("PATCH", self._of(reference, store), json=end)
        return replica

    def remove(self, reference: str, store: str) -> None:
        """Stop a copy and have the replica removed."""
        self._http.delete(self._of(reference, store))

    def _of(self, reference: str, store: str) -> str:
        return f"{self._version_base(reference)}replicas/{quote(store, safe='')}/"
