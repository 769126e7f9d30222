"""Sources from Python: buckets, folders and lists that a dataset follows in place."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Iterator
from typing import Any

from atom_sdk.client.errors import ClientError
from atom_sdk.client.transport.http import Http

ACTIVE = frozenset({"pending", "listing", "committing"})
_POLL_S = 1.0


class ScanFailedError(ClientError):
    """A scan ended without a version; the text and the hint come from the server."""

    code = "scan_failed"

    def __init__(self, scan: dict[str, Any]) -> None:
        """`scan` as the API shows it."""
        super().__init__(scan["error_detail"] or f"The scan was {scan['state']}.")
        self.code = scan["error_code"] or self.code
        self.hint = scan["error_action"] or "Start the scan again."
        self.scan = scan


class Sources:
    """Sources of one project."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._project = f"projects/{project}/"
        self._base = f"{self._project}sources/"

    def list(self) -> Iterator[dict[str, Any]]:
        """Yield the sources, newest first."""
        return self._http.pages(self._base)

    def get(self, name: str) -> dict[str, Any]:
        """Return one source with its newest scan."""
        found: dict[str, Any] = self._http.get(f"{self._base}{name}/")
        return found

    def add(self, name: str, url: str, dataset: str, **options: Any) -> dict[str, Any]:
        """Add a source.

        Options: endpoint, region, branch, include, exclude, labels_from, every_s; of S3
        access_key_id, secret_access_key and session_token, of Azure account_key or sas_token, of
        GCS service_account (the JSON's text), of HDFS hdfs_user or delegation_token.
        """
        body = {"name": name, "url": url, "dataset": dataset, **options}
        found: dict[str, Any] = self._http.post(self._base, body)
        return found

    def test(self, url: str, **options: Any) -> dict[str, Any]:
        """Return the first keys of a place that is not added yet; nothing is stored."""
        found: dict[str, Any] = self._http.post(
            f"{self._project}source-tests/", {"url": url, **options}
        )
        return found

    def scan(
        self, name: str, report: Callable[[dict[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """Scan a source to its end; `report` sees the scan about once a second.

        Raises ScanFailedError when it ends without a version.
        """
        scan: dict[str, Any] = self._http.post(f"{self._base}{name}/scans/")
        while scan["state"] in ACTIVE:
            if report is not None:
                report(scan)
            time.sleep(_POLL_S)
            scan = self._http.get(f"{self._base}{name}/scans/{scan['id']}/")
        if scan["state"] != "done":
            raise ScanFailedError(scan)
        return scan

    def start_scan(self, name: str) -> dict[str, Any]:
        """Begin a scan and return it at once."""
        found: dict[str, Any] = self._http.post(f"{self._base}{name}/scans/")
        return found

    def scans(self, name: str) -> builtins.list[dict[str, Any]]:
        """Return the scans of a source, newest first."""
        return list(self._http.pages(f"{self._base}{name}/scans/"))

    def remove(self, name: str) -> None:
        """Forget a source and its credentials; no object of it is touched."""
        self._http.delete(f"{self._base}{name}/")
