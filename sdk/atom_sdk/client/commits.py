"""Waiting for a commit that a worker builds."""

from __future__ import annotations

import time
from typing import Any

from atom_sdk.client.errors import (
    ApiError,
    CommitCancelledError,
    CommitFailedError,
    MergeConflictError,
)
from atom_sdk.client.progress import Progress, Silent
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.polling import pauses


class HeadMovedError(CommitFailedError):
    """Somebody else's commit came first."""

    hint = "Run the command again; it then starts from the new head."

    def __init__(self) -> None:
        super().__init__("The branch moved meanwhile.", "head_moved")


def wait_for_commit(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the commit request once it is published. Raises CommitFailedError, HeadMovedError."""
    request = _awaited(http, dataset_base, request)
    if request["state"] == "conflict":
        raise HeadMovedError
    _check_ended_well(request)
    return request


def wait_for_operation(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the finished request of a merge or another operation.

    Raises MergeConflictError, CommitFailedError.
    """
    return _ended_well(_awaited(http, dataset_base, request))


def _awaited(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    for pause_s in pauses():
        if request["state"] not in {"pending", "building"}:
            break
        time.sleep(pause_s)
        request = http.get(f"{dataset_base}commits/{request['id']}/")
    return request


def follow_operation(
    http: Http, dataset_base: str, request: dict[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Return the finished request of an operation, telling how far it is meanwhile.

    Ctrl-C cancels the operation; where that is too late, its end is awaited all the same. Raises
    MergeConflictError, CommitFailedError.
    """
    return _ended_well(_followed(http, dataset_base, request, progress))


def follow_split(
    http: Http, dataset_base: str, request: dict[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Do for a split what `follow_operation` does. Raises CommitFailedError, HeadMovedError."""
    ended = _followed(http, dataset_base, request, progress)
    return wait_for_commit(http, dataset_base, ended)


def _followed(
    http: Http, dataset_base: str, request: dict[str, Any], progress: Progress | None
) -> dict[str, Any]:
    shown = _Shown(progress or Silent())
    waits = pauses()
    while request["state"] in {"pending", "building"}:
        try:
            shown.show(request)
            time.sleep(next(waits))
            request = http.get(f"{dataset_base}commits/{request['id']}/")
        except KeyboardInterrupt:
            request = _cancelled(http, dataset_base, request)
    return request


def cancel_commit(http: Http, dataset_base: str, request_id: str) -> dict[str, Any]:
    """Stop a commit before its branch moves. Raises ApiError (commit_over) when it is too late."""
    answer: dict[str, Any] = http.post(f"{dataset_base}commits/{request_id}/cancel/")
    return answer


def _cancelled(http: Http, dataset_base: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return cancel_commit(http, dataset_base, request["id"])
    except ApiError as error:
        if error.code != "commit_over":
            raise
        present: dict[str, Any] = http.get(f"{dataset_base}commits/{request['id']}/")
        return present


def _ended_well(request: dict[str, Any]) -> dict[str, Any]:
    if request["state"] == "conflict":
        raise MergeConflictError(request)
    _check_ended_well(request)
    return request


def _check_ended_well(request: dict[str, Any]) -> None:
    kind = {"failed": CommitFailedError, "cancelled": CommitCancelledError}.get(request["state"])
    if kind is not None:
        error = request.get("error") or {}
        detail = error.get("detail", "The server gave no reason.")
        raise kind(detail, error.get("code", ""), error.get("action", ""))


class _Shown:
    """Reports the stages of a request to a `Progress`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage, self._done = "", 0

    def show(self, request: dict[str, Any]) -> None:
        """Report progress since the last time; a server that reports no stage is waited for."""
        stage, done = request.get("stage", ""), int(request.get("rows_done", 0))
        if not stage:
            return
        if stage != self._stage or done < self._done:
            self._progress.start(stage, int(request["rows_total"]), "files")
            self._stage, self._done = stage, 0
        self._progress.advance(stage, done - self._done)
        self._done = done
