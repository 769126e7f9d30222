"""The agent's requests to the server: join, report, work."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from atom_agent import __version__
from atom_agent.errors import ControlError, NotAccepted, RequestRefused
from atom_agent.messages import (
    Membership,
    Orders,
    ReportAnswer,
    membership_of,
    orders_of,
    report_answer_of,
)
from atom_agent.outbox import Results
from atom_agent.settings import Settings

_TIMEOUT_S = 10.0
_FIRST_DELAY_S, _MOST_DELAY_S = 0.5, 30.0
# The same request would be refused again.
_REFUSALS = frozenset({400, 403, 404, 409, 410, 422})
_PIECE_BYTES = 1 << 20
_NOT_JOINED = "The agent has not joined yet."


class Backoff:
    """How long to wait after failures in a row: twice as long each time, with jitter."""

    def __init__(self) -> None:
        self._failures = 0

    def clear(self) -> None:
        """Begin again after a success."""
        self._failures = 0

    def next_s(self) -> float:
        """Count a failure; returns the seconds to wait. Nodes of a cluster wait differently."""
        most = min(_MOST_DELAY_S, _FIRST_DELAY_S * 2 ** min(self._failures, 10))
        self._failures += 1
        return random.uniform(most / 2, most)


class Control:
    """Speaks with the server under the token of the latest join. Safe for threads."""

    def __init__(self, settings: Settings) -> None:
        """No request is sent yet."""
        self._settings = settings
        self._client = httpx.Client(timeout=_TIMEOUT_S, follow_redirects=False)
        self._guard = threading.Lock()
        self._member: Membership | None = None
        self._renew_at = datetime.min.replace(tzinfo=UTC)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def membership(self) -> tuple[Membership, bool]:
        """Return the membership and whether it is new; joins if there is none or it is half over.

        Raises ControlError. A membership that still holds survives a failed renewal.
        """
        with self._guard:
            now = datetime.now(UTC)
            if self._member is not None and now < self._renew_at:
                return self._member, False
            try:
                member = self._join()
            except ControlError:
                if self._member is not None and now < self._member.expires_at:
                    return self._member, False
                raise
            self._member = member
            self._renew_at = now + max(timedelta(0), (member.expires_at - now) / 2)
            return member, True

    def report(self, report: Mapping[str, Any]) -> ReportAnswer:
        """Send a report and return the server's answer. Raises ControlError."""
        return report_answer_of(self._post("report", report))

    def work(
        self, room: int, results: Results, progress: Mapping[str, int], timeout_s: float
    ) -> Orders:
        """Send results and bytes that came by fetch; returns new orders. Raises ControlError."""
        body = {
            "room": room,
            "done": results.done,
            "failed": results.failed,
            "removed": results.removed,
            "verified": results.verified,
            "progress": [{"fetch": name, "bytes": count} for name, count in progress.items()],
        }
        return orders_of(self._post("work", body, timeout_s))

    def open_volume(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for an input of a pod's run; see `docs/volume.md`.

        Raises RequestRefused with the server's sentence, ControlError.
        """
        answer: dict[str, Any] = self._post("volumes", body)
        return answer

    def hold_volumes(self, volumes: Sequence[str], is_registered: bool) -> None:
        """Say which volumes are here, all of them, and whether the kubelet has the driver.

        Raises ControlError.
        """
        self._post("volumes/held", {"volumes": [*volumes], "is_registered": is_registered})

    def fetch_index(self, volume: str, path: Path) -> None:
        """Write the index of a volume's view, whole or not at all.

        Raises RequestRefused, ControlError, OSError.
        """
        member = self._member
        if member is None:
            raise NotAccepted(_NOT_JOINED)
        url = f"{self._settings.api_url}/agent/volumes/{volume}/index/"
        partial = path.with_suffix(".partial")
        try:
            headers = {"Authorization": f"Bearer {member.token}"}
            with self._client.stream("GET", url, headers=headers) as answer:
                if answer.status_code != httpx.codes.OK:
                    answer.read()
                    raise _failure("index", answer)
                with partial.open("wb") as file:
                    for piece in answer.iter_bytes(_PIECE_BYTES):
                        file.write(piece)
                if str(partial.stat().st_size) != answer.headers.get("Content-Length"):
                    raise ControlError("The index was cut off.")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ControlError(f"index: {type(error).__name__}: {error}") from error
        partial.replace(path)

    def _join(self) -> Membership:
        settings = self._settings
        try:
            # Kubernetes replaces the token in this file before it expires.
            token = settings.token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ControlError(f"The pod's token cannot be read: {error}.") from error
        body = {
            "cluster": settings.cluster,
            "node": settings.node,
            "pod": settings.pod,
            "pod_uid": settings.pod_uid,
            "address": settings.address,
            "version": __version__,
        }
        return membership_of(self._send("join", token, body, _TIMEOUT_S))

    def _post(self, name: str, body: Mapping[str, Any], timeout_s: float = _TIMEOUT_S) -> Any:
        member = self._member
        if member is None:
            raise NotAccepted(_NOT_JOINED)
        try:
            return self._send(name, member.token, body, timeout_s)
        except NotAccepted:
            with self._guard:
                # Another thread may have joined meanwhile.
                if self._member is member:
                    self._member = None
            raise

    def _send(self, name: str, token: str, body: Mapping[str, Any], timeout_s: float) -> Any:
        url = f"{self._settings.api_url}/agent/{name}/"
        try:
            headers = {"Authorization": f"Bearer {token}"}
            answer = self._client.post(url, json=body, headers=headers, timeout=timeout_s)
            if answer.status_code != httpx.codes.OK:
                raise _failure(name, answer)
            fields = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ControlError(f"{name}: {type(error).__name__}: {error}") from error
        if not isinstance(fields, dict):
            raise ControlError(f"{name}: the answer is no object.")
        return fields


def _failure(name: str, answer: httpx.Response) -> ControlError:
    """Return the failure of an answer, with the server's own sentence if it has any."""
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        return NotAccepted(f"The server does not accept this agent: {answer.text[:300]}")
    if answer.status_code in _REFUSALS:
        return RequestRefused(_sentence_of(answer))
    return ControlError(f"{name}: status {answer.status_code}: {answer.text[:300]}")


def _sentence_of(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
        sentence = str(problem.get("detail") or problem.get("title") or "")
    except (ValueError, AttributeError):
        sentence = ""
    return sentence[:500] or f"Status {answer.status_code}."
