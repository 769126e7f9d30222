"""Cleaning reports from Python: what is wrong in a version, and removing it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from atom_sdk.client.datasets import Datasets
from atom_sdk.client.errors import CleaningFailedError
from atom_sdk.client.operations import Operations
from atom_sdk.client.transport.http import Http

_OPEN = frozenset({"pending", "measuring", "comparing"})
_POLL_S = 0.5
Row = dict[str, Any]


class Cleaning:
    """Reports of datasets; methods take a report as `start`, `reports` and `get` return it."""

    def __init__(self, http: Http, datasets: Datasets, operations: Operations) -> None:
        self._http = http
        self._datasets = datasets
        self._operations = operations

    def start(self, reference: str, **thresholds: float) -> Row:
        """Start a report of a version (`digits@v3`); thresholds that are left out have defaults.

        Raises ApiError (cleaning_under_way) while another is being made.
        """
        base = self._datasets.version_base(reference)
        report: Row = self._http.post(f"{base}cleaning/", thresholds)
        return report

    def reports(self, reference: str) -> Iterator[Row]:
        """Yield the reports of a version, newest first."""
        return self._http.pages(f"{self._datasets.version_base(reference)}cleaning/")

    def get(self, report: Row) -> Row:
        """Return a report as it is now."""
        found: Row = self._http.get(_address(report))
        return found

    def wait(self, report: Row, told: Callable[[Row], None] | None = None) -> Row:
        """Return a report once it is ready; `told` gets it after each look.

        Raises CleaningFailedError if it failed or was cancelled.
        """
        while True:
            report = self.get(report)
            if told is not None:
                told(report)
            if report["state"] not in _OPEN:
                break
            time.sleep(_POLL_S)
        if report["state"] != "ready":
            raise CleaningFailedError(report)
        return report

    def cancel(self, report: Row) -> Row:
        """Stop making a report, and its run."""
        found: Row = self._http.post(f"{_address(report)}cancel/")
        return found

    def findings(self, report: Row, kind: str) -> Iterator[Row]:
        """Yield the findings of a kind, the worst first."""
        return self._http.pages(f"{_address(report)}findings/", kind=kind)

    def paths(self, report: Row, kind: str) -> list[str]:
        """Return the files of a kind that should go; of a group, all but the one that stays."""
        found: list[str] = []
        query: Row = {"kind": kind}
        while True:
            page = self._http.get(f"{_address(report)}paths/", **query)
            found += page["paths"]
            if page["next"] is None:
                return found
            query["cursor"] = page["next"]

    def remove(self, report: Row, paths: list[str], branch: str = "main") -> Row:
        """Remove at most 10,000 findings from a branch; returns the request at its end.

        Raises ApiError (findings_outdated) if the branch has other files there by now.
        """
        body = {"branch": branch, "paths": paths}
        request: Row = self._http.post(f"{_address(report)}removals/", body)
        return self._operations.follow(f"atom://{report['project']}/{report['dataset']}", request)


def _address(report: Row) -> str:
    return f"projects/{report['project']}/cleaning/{report['id']}/"
