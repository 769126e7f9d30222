"""Secrets at rest and signed tokens.

Keys derive from `ATOM_SECRET_KEY` by HKDF with a purpose, so a token made for one purpose
is worthless for another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

_SIGNATURE_BYTES = 18


class BadSignature(ValueError):
    """A token was not signed by us, or was changed."""


@lru_cache(maxsize=32)
def derive_key(purpose: str) -> bytes:
    """Return 32 bytes that depend on the installation's secret and on `purpose`."""
    secret = str(settings.SECRET_KEY).encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(secret)


def encrypt(plain: str) -> str:
    """Return `plain` encrypted for storage in a database column."""
    return _fernet().encrypt(plain.encode()).decode()


def decrypt(stored: str) -> str:
    """Undo `encrypt`. Raises BadSignature if the key or the text changed."""
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken as exc:
        raise BadSignature("the stored secret cannot be decrypted with this key") from exc


def _fernet() -> Fernet:
    # A key of its own, so that rotating the signing secret does not lose stored secrets.
    key = settings.ATOM_ENCRYPTION_KEY or base64.urlsafe_b64encode(derive_key("fernet"))
    return Fernet(key)


def sign(payload: dict[str, Any], purpose: str) -> str:
    """Return a compact URL-safe token that carries `payload` (readable, not secret)."""
    body = _b64(json.dumps(payload, separators=(",", ":"), sort_keys=True).encode())
    return f"{body}.{_b64(_mac(body, purpose))}"


def unsign(token: str, purpose: str) -> dict[str, Any]:
    """Return the payload of a token made by `sign`. Raises BadSignature."""
    body, _, signature = token.partition(".")
    try:
        given = _unb64(signature)
        if not hmac.compare_digest(given, _mac(body, purpose)):
            raise BadSignature("the signature does not match")
        payload = json.loads(_unb64(body))
    except ValueError as exc:
        raise BadSignature("the token is not valid") from exc
    if not isinstance(payload, dict):
        raise BadSignature("the token carries no object")
    return payload


def hash_token(secret: str) -> str:
    """Return the SHA-256 of a random token; random 256-bit secrets need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def repeatable_secret(purpose: str, *holder: str) -> str:
    """Return a URL-safe secret of 256 bits that is the same each time for the same holder."""
    named = json.dumps(holder).encode()
    return _b64(hmac.new(derive_key(purpose), named, hashlib.sha256).digest())


def _mac(body: str, purpose: str) -> bytes:
    return hmac.new(derive_key(purpose), body.encode(), hashlib.sha256).digest()[:_SIGNATURE_BYTES]


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
