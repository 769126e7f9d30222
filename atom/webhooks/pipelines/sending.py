"""One request to a receiver: only to a checked address, never past a redirect, never for long."""

from __future__ import annotations

import codecs
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import httpx

from atom_sdk.checked_connections import CheckedTransport
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.public_hosts import public_addresses
from atom_sdk.webhooks import HEADER, sign

# The whole answer, headers and all, must be there by then, however slowly it trickles.
ALLOWED_S = 10.0
EXCERPT_BYTES = 2048
_ERROR_CHARS = 300
_CONNECT_S = 5.0


@dataclass(frozen=True)
class Letter:
    """A request to send: the bytes that are signed, the address, and the secrets."""

    delivery_id: str
    kind: str
    url: str
    body: bytes
    secrets: tuple[str, ...]
    # By the database's clock, as every time that others see.
    signed_at: int


@dataclass(frozen=True)
class Outcome:
    """How a try ended; without a status nothing answered."""

    status_code: int | None
    excerpt: str
    error: str
    duration_ms: int

    @property
    def is_accepted(self) -> bool:
        """Return whether the receiver has taken it."""
        return not self.error and self.status_code is not None and 200 <= self.status_code < 300

    @property
    def is_gone(self) -> bool:
        """Return whether the receiver wants nothing more."""
        return self.status_code == 410


def send(letter: Letter, allowed: Sequence[str], allowed_s: float = ALLOWED_S) -> Outcome:
    """Send it once. Nothing that happens on the way is raised: it is the outcome."""
    started = time.monotonic()
    status, excerpt, error = None, "", ""
    try:
        with _client(allowed, allowed_s) as client:
            request = {"content": letter.body, "headers": headers_of(letter)}
            with client.stream("POST", letter.url, **request) as answer:  # type: ignore[arg-type]
                status = answer.status_code
                excerpt = _beginning(answer, started + allowed_s)
        if 300 <= status < 400:
            error = "It redirects elsewhere, which is not followed: give the final address."
        elif not 200 <= status < 300:
            error = f"It answered {status}."
    except SdkError as refused:
        error = str(refused)
    except httpx.TimeoutException:
        error = f"No answer within {allowed_s:.0f} seconds."
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as failed:
        error = f"{type(failed).__name__}: {failed}"
    duration_ms = round((time.monotonic() - started) * 1000)
    return Outcome(status, excerpt, error[:_ERROR_CHARS], duration_ms)


def headers_of(letter: Letter) -> dict[str, str]:
    """Return what a receiver knows a delivery by."""
    signatures = ",".join(
        f"v1={sign(one, letter.signed_at, letter.body)}" for one in letter.secrets
    )
    return {
        "Content-Type": "application/json",
        "User-Agent": "atom-webhooks/1",
        "Accept-Encoding": "identity",
        "Atom-Event": letter.kind,
        "Atom-Delivery": letter.delivery_id,
        HEADER: f"t={letter.signed_at},{signatures}",
    }


def _client(allowed: Sequence[str], allowed_s: float) -> httpx.Client:
    addresses = partial(public_addresses, allowed=tuple(allowed))
    return httpx.Client(
        transport=CheckedTransport(addresses, allowed_s),
        timeout=httpx.Timeout(allowed_s, connect=min(_CONNECT_S, allowed_s)),
        follow_redirects=False,
        trust_env=False,
    )


def _beginning(answer: httpx.Response, deadline: float) -> str:
    """Return the first bytes of an answer, as text that a database can hold; leave the rest."""
    found = b""
    for chunk in answer.iter_raw(EXCERPT_BYTES):
        found += chunk
        if len(found) >= EXCERPT_BYTES or time.monotonic() > deadline:
            break
    # A character at the cut is left out: it is not the receiver's mistake.
    is_whole = len(found) < EXCERPT_BYTES
    return codecs.utf_8_decode(found[:EXCERPT_BYTES], "replace", is_whole)[0].replace("\0", "�")
