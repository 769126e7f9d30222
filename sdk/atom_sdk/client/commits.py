"""Waiting for a commit that a worker builds."""

from __future__ import annotations

import time
from typing import Any

from atom_sdk.client.errors import CommitFailedError, MergeConflictError
from atom_sdk.client.http import Http

_POLL_S = 0.2


class HeadMovedError(CommitFailedError):
    """Somebody else's commit came first."""

    hint = "Run the command again; it then starts from the new head."

    def __init__(self) -> None:
        super().__init__("The branch moved meanwhile.", "head_moved")


def wait_for_commit(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the commit request once it is published. Raises CommitFailedError, HeadMovedError."""
    while request["state"] in {"pending", "building"}:
        time.sleep(_POLL_S)
        request = http.get(f"{dataset_base}commits/{request['id']}/")
    if request["state"] == "conflict":
        raise HeadMovedError
    if request["state"] == "failed":
        error = request.get("error") or {}
        detail = error.get("detail", "The server gave no reason.")
        raise CommitFailedError(detail, error.get("code", ""), error.get("action", ""))
    return request


def wait_for_operation(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the finished request of a merge or another operation.

    Raises MergeConflictError, CommitFailedError.
    """
    while request["state"] in {"pending", "building"}:
        time.sleep(_POLL_S)
        request = http.get(f"{dataset_base}commits/{request['id']}/")
    if request["state"] == "conflict":
        raise MergeConflictError(request)
    if request["state"] == "failed":
        error = request["error"]
        raise CommitFailedError(error["detail"], error["code"], error["action"])
    return request
