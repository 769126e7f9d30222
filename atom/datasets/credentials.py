"""Credentials as they are stored: encrypted with the installation's key."""

from __future__ import annotations

import json
from dataclasses import asdict

from atom.core import crypto
from atom.datasets.source_spec import ANONYMOUS, Credentials


def encrypted(credentials: Credentials) -> str:
    """Return credentials for a database column; empty if there are none."""
    if credentials == ANONYMOUS:
        return ""
    given = {name: value for name, value in asdict(credentials).items() if value}
    return crypto.encrypt(json.dumps(given))


def decrypted(stored: str) -> Credentials:
    """Undo `encrypted`. Raises BadSignature if the key changed."""
    return Credentials(**json.loads(crypto.decrypt(stored))) if stored else ANONYMOUS
