"""Tokens that let the agent of another node read one pack of this one, for a plan and a while."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time

from atom_agent.messages import PackName

_MOST_CHARACTERS = 2048


def is_accepted(token: str, key: bytes, pack: PackName) -> bool:
    """Whether the key signed this token, for this pack and for a plan, and it has not expired."""
    payload, dot, signature = token.partition(".")
    if not dot or len(token) > _MOST_CHARACTERS or not token.isascii():
        return False
    expected = hmac.new(key, payload.encode(), hashlib.sha256).digest()
    try:
        if not hmac.compare_digest(_decoded(signature), expected):
            return False
        claims = json.loads(_decoded(payload))
        return (
            claims["project"] == pack.project
            and claims["pack"] == pack.digest
            and bool(claims["plan"])
            and float(claims["exp"]) > time.time()
        )
    except (binascii.Error, ValueError, KeyError, TypeError):
        return False


def _decoded(text: str) -> bytes:
    padded = text + "=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
