"""Tokens of service accounts: signed, for an audience, with an end, bound to an object."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from .store import Store

Json = dict[str, Any]

ISSUER = "https://kubernetes.default.svc"
_ALGORITHM = ec.ECDSA(hashes.SHA256())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Signer:
    """Makes and reads tokens."""

    default_audiences = (ISSUER,)

    def __init__(self, store: Store) -> None:
        self.store = store

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())

    def make(
        self,
        namespace: str,
        account: Json,
        *,
        audiences: list[str] | None = None,
        seconds: int = 3600,
        pod: Json | None = None,
    ) -> tuple[str, datetime]:
        """Return a token and its end."""
        now = self.store.clock()
        end = datetime.fromtimestamp(int(now.timestamp()) + seconds, UTC)
        name, uid = account["metadata"]["name"], account["metadata"]["uid"]
        known: Json = {"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}}
        if pod:
            known["pod"] = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        claims = {
            "aud": audiences or list(self.default_audiences),
            "exp": int(end.timestamp()),
            "iat": int(now.timestamp()),
            "iss": ISSUER,
            "kubernetes.io": known,
            "nbf": int(now.timestamp()),
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        parts = ({"alg": "ES256", "kid": "1"}, claims)
        text = ".".join(_encoded(json.dumps(part).encode()) for part in parts)
        first, second = decode_dss_signature(self._key.sign(text.encode(), _ALGORITHM))
        signature = first.to_bytes(32, "big") + second.to_bytes(32, "big")
        return f"{text}.{_encoded(signature)}", end

    def claims(self, token: str, audiences: tuple[str, ...]) -> Json | None:
        """Return the claims of a token that is good now, or None."""
        try:
            text, _, signature = token.rpartition(".")
            raw = _decoded(signature)
            numbers = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
            encoded = encode_dss_signature(*numbers)
            self._key.public_key().verify(encoded, text.encode(), _ALGORITHM)
            claims: Json = json.loads(_decoded(text.split(".")[1]))
        except (ValueError, IndexError, InvalidSignature):
            return None
        accepted = set(audiences or self.default_audiences)
        if not accepted & set(claims["aud"]) or claims["exp"] <= self.store.clock().timestamp():
            return None
        return claims if self._still_bound(claims["kubernetes.io"]) else None

    def _still_bound(self, known: Json) -> bool:
        namespace = known["namespace"]
        parts = [("serviceaccounts.", known["serviceaccount"])]
        if "pod" in known:
            parts.append(("pods.", known["pod"]))
        for kind, reference in parts:
            obj = self.store.get(kind, namespace, reference["name"])
            if obj is None or obj["metadata"]["uid"] != reference["uid"]:
                return False
        return True

    def keys(self) -> Json:
        """Return the public key as a JSON Web Key Set."""
        numbers = self._key.public_key().public_numbers()
        key = {
            "use": "sig",
            "kty": "EC",
            "kid": "1",
            "alg": "ES256",
            "crv": "P-256",
            "x": _encoded(numbers.x.to_bytes(32, "big")),
            "y": _encoded(numbers.y.to_bytes(32, "big")),
        }
        return {"keys": [key]}
