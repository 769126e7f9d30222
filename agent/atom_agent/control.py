"""The agent's requests to the server: join, report, work."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from atom_agent import __version__
from atom_agent.errors import ControlError, NotAccepted
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
            raise NotAccepted("The agent has not joined yet.")
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
            if answer.status_code == httpx.codes.UNAUTHORIZED:
                raise NotAccepted(f"The server does not accept this agent: {answer.text[:300]}")
            if answer.status_code != httpx.codes.OK:
                raise ControlError(f"{name}: status {answer.status_code}: {answer.text[:300]}")
            fields = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ControlError(f"{name}: {type(error).__name__}: {error}") from error
        if not isinstance(fields, dict):
            raise ControlError(f"{name}: the answer is no object.")
        return fields
