"""Meaning of an API server's answers: JSON, pages of HTML and codes of failure."""

from __future__ import annotations

import json
from typing import Any

from atom.clusters.kubernetes.errors import (
    ClusterAnswerWrong,
    ClusterFails,
    ClusterFailure,
    ClusterForbids,
    ClusterRefusesCredentials,
)
from atom_sdk.sentences import Sentence

# No Retry-After may hold a watcher longer than this.
LONGEST_WAIT_S = 60.0
_MAX_MESSAGE = 300
_UNAUTHORIZED, _FORBIDDEN, _REDIRECTS = 401, 403, range(300, 400)


def json_of(kind: str, data: bytes) -> dict[str, Any]:
    """Return the object of a JSON body; `kind` is its Content-Type. Raises ClusterAnswerWrong."""
    if is_html(kind, data):
        raise html_answer()
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ClusterAnswerWrong(
            Sentence("clusters.answer_not_json", "It answers with something else than JSON.")
        )
    return body


def is_html(kind: str, data: bytes) -> bool:
    """Return whether a body is a page and no answer of an API."""
    return "html" in kind.lower() or data[:256].lstrip()[:14].lower().startswith(
        (b"<!doctype html", b"<html")
    )


def html_answer() -> ClusterAnswerWrong:
    """Return the failure of an answer that is a page."""
    return ClusterAnswerWrong(
        Sentence("clusters.answer_html", "It answers with a page of HTML, as a portal does.")
    )


def status_failure(status: int, kind: str, body: str, retry_after: str = "") -> ClusterFailure:
    """Return the failure of an answer that is no success, with the wait that it asks for."""
    failure = _failure(status, kind, body)
    failure.retry_after_s = _seconds(retry_after)
    return failure


def _seconds(retry_after: str) -> float:
    # API servers write whole seconds; dates and other texts ask for no wait of ours.
    text = retry_after.strip()
    return min(float(text), LONGEST_WAIT_S) if text.isascii() and text.isdigit() else 0.0


def _failure(status: int, kind: str, body: str) -> ClusterFailure:
    if status in _REDIRECTS:
        return ClusterAnswerWrong(
            Sentence(
                "clusters.answer_redirects",
                "It sends us to another address, and redirects are not followed.",
            )
        )
    # A page before the API, such as a proxy's sign-in, says nothing about our rights.
    if is_html(kind, body.encode(errors="replace")):
        return html_answer()
    if status == _UNAUTHORIZED:
        return ClusterRefusesCredentials()
    detail = Sentence(
        "clusters.answer_status",
        "It answers {status}: {message}",
        status=status,
        message=_message(body),
    )
    return (
        ClusterForbids(detail) if status == _FORBIDDEN else ClusterFails(detail, status_code=status)
    )


def _message(body: str) -> str:
    """Return the message of a Status, in one line of what can be shown."""
    try:
        parsed = json.loads(body)
        text = parsed["message"] if isinstance(parsed, dict) else body
    except (ValueError, KeyError, RecursionError):
        text = body
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)[:2000]).split())
    return line[:_MAX_MESSAGE] or "-"
