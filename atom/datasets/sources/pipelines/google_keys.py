"""Access tokens of a Google service account, from the JSON file of its key."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from atom.core.errors import Invalid
from atom.core.foreign_json import read_json
from atom.datasets.sources.errors import SourceDenied, SourceOdd
from atom.datasets.sources.pipelines.web import WebPlace, json_of
from atom_sdk.sentences import Sentence

_SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_TOKEN_URI = "https://oauth2.googleapis.com/token"  # an address
_LIFE_S = 3600
_EARLY_S = 120.0


@dataclass(frozen=True)
class ServiceAccount:
    """The account that signs requests, and its private key."""

    email: str
    key: RSAPrivateKey = field(repr=False)
    key_id: str
    token_uri: str


def read_service_account(text: str) -> ServiceAccount:
    """Read the JSON of a key. Raises Invalid, which quotes nothing of it."""
    try:
        given = read_json(text)
        key = load_pem_private_key(str(given["private_key"]).encode(), None)
        if not isinstance(key, RSAPrivateKey):
            raise TypeError
        return ServiceAccount(
            email=str(given["client_email"]),
            key=key,
            key_id=str(given.get("private_key_id", "")),
            token_uri=str(given.get("token_uri", _TOKEN_URI)),
        )
    except (ValueError, TypeError, KeyError, UnsupportedAlgorithm):
        said = Sentence(
            "datasets.service_account_invalid",
            ("Give the JSON of a service account's key, with client_email and private_key."),
        )
        # Without the cause: a parser quotes what it read.
        raise Invalid(errors={"service_account": [said]}) from None


class GoogleToken:
    """The account's access token, renewed before it expires. For several threads."""

    def __init__(self, account: ServiceAccount, place: WebPlace) -> None:
        self._account, self._place = account, place
        self._lock = threading.Lock()
        self._token, self._until_s = "", 0.0

    def headers(self) -> dict[str, str]:
        """Return what a request must carry. Raises SourceDenied, SourceAway or SourceOdd."""
        with self._lock:
            if time.monotonic() >= self._until_s:
                self._token, life_s = self._ask()
                self._until_s = time.monotonic() + life_s - _EARLY_S
            return {"Authorization": f"Bearer {self._token}"}

    def _ask(self) -> tuple[str, float]:
        form = {"grant_type": _GRANT, "assertion": _assertion(self._account, int(time.time()))}
        status, body = self._place.post_form(self._account.token_uri, form)
        if status in {400, 401, 403}:
            raise SourceDenied(
                Sentence(
                    "datasets.google_gives_no_token",
                    "Google gives no token for this service account.",
                )
            )
        answer = json_of(body, "a token")
        token = answer.get("access_token")
        if status != 200 or not isinstance(token, str):
            raise SourceOdd(
                Sentence(
                    "datasets.token_address_answers_status",
                    "The address of tokens answered with status {status}.",
                    status=status,
                )
            )
        life_s = answer.get("expires_in", _LIFE_S)
        return token, float(life_s) if isinstance(life_s, int | float) else _LIFE_S


def _assertion(account: ServiceAccount, now_s: int) -> str:
    claims = {
        "iss": account.email,
        "scope": _SCOPE,
        "aud": account.token_uri,
        "iat": now_s,
        "exp": now_s + _LIFE_S,
    }
    header = {"alg": "RS256", "typ": "JWT", "kid": account.key_id}
    signed = f"{_part(header)}.{_part(claims)}"
    signature = account.key.sign(signed.encode(), PKCS1v15(), SHA256())
    return f"{signed}.{_b64(signature)}"


def _part(value: Mapping[str, Any]) -> str:
    return _b64(json.dumps(value, separators=(",", ":")).encode())


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
