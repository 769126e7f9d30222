"""Receiving webhooks: whether a request came from Atom, and lately.

The header `Atom-Signature` is `t=<unix seconds>,v1=<hex>`; while a secret is replaced it holds two
`v1`, of which one fits. Each is the HMAC-SHA256, by the webhook's secret, of the timestamp, a dot,
and the body exactly as it arrived.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any

from atom_sdk.errors import AtomError

HEADER = "Atom-Signature"
# A request that is older may be one that somebody has recorded.
TOLERANCE_S = 300
_MAX_DIGITS = 20


class WebhookSignatureError(AtomError):
    """The request was not signed with this secret, or too long ago."""

    code = "webhook_signature"
    hint = "Answer 401 and do nothing; check that secret and body are those of this webhook."


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """Return the hexadecimal signature of a body."""
    signed = f"{timestamp}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def verify(secret: str, body: bytes, header: str, tolerance_s: float = TOLERANCE_S) -> Any:
    """Return the event that a request brought. Raises WebhookSignatureError.

    Give the body's bytes as they arrived: JSON that was read and written again is other bytes.
    """
    fields = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in fields if name == "t"]
    given = [value for name, _, value in fields if name == "v1"]
    # Python refuses to read a number of thousands of digits, in words of its own.
    is_time = len(times) == 1 and times[0].isascii() and times[0].isdecimal()
    if not is_time or len(times[0]) > _MAX_DIGITS:
        raise WebhookSignatureError("The header Atom-Signature has no timestamp.")
    expected = sign(secret, int(times[0]), body).encode()
    # Each is compared, in a time that does not depend on how much fits.
    fitting = [hmac.compare_digest(expected, one.encode()) for one in given]
    if not any(fitting):
        raise WebhookSignatureError("The signature does not fit this body and secret.")
    if abs(time.time() - int(times[0])) > tolerance_s:
        raise WebhookSignatureError("The request was signed too long ago.")
    return json.loads(body)
