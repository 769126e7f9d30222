"""Machines of the installation: what they have, what is free, who is on them."""

from __future__ import annotations

from typing import Any

from atom_sdk.client.errors import ClientError
from atom_sdk.client.transport.http import Http


class MachineUnknownError(ClientError):
    """No machine has this name."""

    code = "machine_not_found"
    hint = "Look at the names that `atom machines` lists."


class Machines:
    """`Client().machines`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[dict[str, Any]]:
        """Return every machine with its slots, its disk and its runs."""
        answer: dict[str, Any] = self._http.get("machines/")
        rows: list[dict[str, Any]] = answer["results"]
        return rows

    def cordon(self, name: str, reason: str) -> dict[str, Any]:
        """Keep new runs off a machine; for administrators. Raises MachineUnknownError."""
        return self._change(name, "PUT", {"reason": reason})

    def uncordon(self, name: str) -> dict[str, Any]:
        """Let a machine take runs again; for administrators. Raises MachineUnknownError."""
        return self._change(name, "DELETE", None)

    def _change(self, name: str, method: str, body: dict[str, str] | None) -> dict[str, Any]:
        machine_id = _named(self.list(), name)["id"]
        answer = self._http.request(method, f"machines/{machine_id}/cordon/", json=body)
        return _named(answer["results"], name)


def _named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for row in rows:
        if name in (row["name"], row["id"]):
            return row
    raise MachineUnknownError(f"There is no machine {name!r}.")
