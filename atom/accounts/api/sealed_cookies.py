"""Encrypted cookies for the steps of signing in: browsers can neither read nor change them.

A cookie needs no row for a person who may never come back, and no session before the sign-in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from atom.core import clock
from atom.core.crypto import BadSignature, decrypt, encrypt


@dataclass(frozen=True)
class SealedCookie:
    """One kind of cookie, sent to addresses below `path` only."""

    name: str
    path: str
    lasts_s: int

    def put(self, response: HttpResponseBase, data: dict[str, Any]) -> None:
        """Give the browser something to keep for a while."""
        ends_at = clock.now().timestamp() + self.lasts_s
        # The name seals the purpose: a cookie of one kind is worthless as another.
        text = json.dumps({"kind": self.name, "ends_at": ends_at, "data": data})
        response.set_cookie(
            self.name,
            encrypt(text),
            max_age=self.lasts_s,
            path=self.path,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )

    def take(self, request: HttpRequest) -> dict[str, Any] | None:
        """Return what the browser kept; None when it is missing, strange or too old."""
        try:
            found = json.loads(decrypt(request.COOKIES.get(self.name, "")))
        except (BadSignature, ValueError):
            return None
        if not isinstance(found, dict) or found.get("kind") != self.name:
            return None
        if found["ends_at"] <= clock.now().timestamp():
            return None
        data: dict[str, Any] = found["data"]
        return data

    def forget(self, response: HttpResponseBase) -> None:
        """Have the browser forget it."""
        response.delete_cookie(self.name, path=self.path, samesite="Lax")
