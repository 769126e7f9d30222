"""Waits for the pod that an administrator has tried in a cluster."""

from __future__ import annotations

import time
from typing import Any

from atom_sdk.cli.context import Context

_EVERY_S = 1.0
# The server gives each of two pods two minutes, and its worker may be busy before.
_PATIENCE_S = 420.0


def try_pod(context: Context, name: str) -> dict[str, Any]:
    """Return the cluster once its pod has ended; how far it is goes to the error stream."""
    clusters = context.client.clusters
    row = clusters.try_pod(name)
    shown, ends_at_s = "", time.monotonic() + _PATIENCE_S
    while (finding := _under_way(row)) and time.monotonic() < ends_at_s:
        if finding["detail"] != shown:
            shown = finding["detail"]
            context.err.print(shown, markup=False)
        time.sleep(_EVERY_S)
        row = clusters.get(name)
    return row


def _under_way(row: dict[str, Any]) -> dict[str, Any] | None:
    for finding in row["findings"] or ():
        if finding["code"] == "pod_reaches_atom" and finding["evidence"].get("under_way"):
            return dict(finding)
    return None
