"""Retention of a dataset, legal holds, and restoring expired versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from atom_sdk.client.errors import DatasetNotFoundError
from atom_sdk.client.refs import parse_ref
from atom_sdk.client.transport.http import Http

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets


class Retention:
    """Retention and holds of one project's datasets; changes need the role admin."""

    def __init__(self, datasets: Datasets, http: Http) -> None:
        self._datasets = datasets
        self._http = http

    def policy(self, dataset: str) -> dict[str, Any]:
        """Return {kind, limit, due_count, due}: the policy, and the versions that expire next."""
        found: dict[str, Any] = self._http.get(f"{self._datasets.base(dataset)}retention/")
        return found

    def set_policy(self, dataset: str, kind: str, limit: int | None) -> dict[str, Any]:
        """Keep `all` versions, the `last` so many, or those of so many `days`."""
        address = f"{self._datasets.base(dataset)}retention/"
        body = {"kind": kind, "limit": limit}
        found: dict[str, Any] = self._http.request("PUT", address, json=body)
        return found

    def restore(self, reference: str) -> dict[str, Any]:
        """Keep an expired version again and return it. Raises ApiError when it is collected."""
        found: dict[str, Any] = self._http.post(f"{self._datasets.version_base(reference)}restore/")
        return found

    def delete(self, dataset: str) -> None:
        """Delete a dataset; for a while it can be taken back. Needs the role admin."""
        base = self._datasets.base(dataset)
        self._http.request("DELETE", base, params={"name": parse_ref(dataset).dataset})

    def deleted(self) -> Iterator[dict[str, Any]]:
        """Yield the deleted datasets of the project that can be taken back, the latest first."""
        return self._http.pages(f"projects/{self._datasets.project}/deleted-datasets/")

    def undelete(self, dataset: str) -> dict[str, Any]:
        """Take back the deletion of a dataset. Raises DatasetNotFoundError."""
        name = parse_ref(dataset).dataset
        rows = [row for row in self.deleted() if row["name"] == name]
        if not rows:
            raise DatasetNotFoundError(f"No deleted dataset is called {name}.")
        address = f"projects/{self._datasets.project}/deleted-datasets/{rows[0]['id']}/restore/"
        found: dict[str, Any] = self._http.post(address)
        return found

    def holds(self, dataset: str) -> Iterator[dict[str, Any]]:
        """Yield the holds of a dataset, released ones too, newest first."""
        return self._http.pages(f"{self._datasets.base(dataset)}holds/")

    def place_hold(self, reference: str, reason: str) -> dict[str, Any]:
        """Hold a dataset (`digits`) or one version (`digits@v3`)."""
        ref = parse_ref(reference).ref if "@" in reference else None
        body = {"reason": reason, "ref": ref}
        found: dict[str, Any] = self._http.post(f"{self._datasets.base(reference)}holds/", body)
        return found

    def release_hold(self, dataset: str, hold_id: str) -> dict[str, Any]:
        """End a hold and return it."""
        address = f"{self._datasets.base(dataset)}holds/{hold_id}/release/"
        found: dict[str, Any] = self._http.post(address)
        return found
