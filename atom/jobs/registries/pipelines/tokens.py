"""Credentials of requests to a registry, as its challenge asks for them.

A registry answers 401 with `Basic`, or with `Bearer` and the address that gives tokens.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from atom.jobs.registries.pipelines.connections import read_bounded

_PARAMETER = re.compile(r'([A-Za-z]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_MAX_ANSWER = 1 << 20


@dataclass(frozen=True, slots=True)
class Challenge:
    """The credentials that a 401 answer asks for; `scheme` is in small letters."""

    scheme: str
    parameters: Mapping[str, str]


def parse_challenge(header: str) -> Challenge:
    """Return the challenge of a `WWW-Authenticate` header."""
    scheme, _, rest = header.strip().partition(" ")
    found = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(rest)}
    return Challenge(scheme.lower(), found)


def authorization(
    http: httpx.Client,
    challenge: Challenge,
    credentials: tuple[str, str] | None,
    scopes: tuple[str, ...],
    *,
    is_plain: bool,
) -> str | None:
    """Return the value of `Authorization` that a registry asks for, None if there is none.

    `scopes`: for instance `repository:team/x:pull,push`. `is_plain`: the registry has no TLS.
    Credentials go to an address without TLS only for a registry without TLS. Raises HTTPError, and
    ValueError for an answer without end.
    """
    if challenge.scheme == "basic":
        return _basic(credentials) if credentials else None
    realm = challenge.parameters.get("realm", "")
    schemes = ("https://", "http://") if is_plain else ("https://",)
    if challenge.scheme != "bearer" or not realm.startswith(schemes):
        return None
    asked: list[tuple[str, str]] = [("scope", scope) for scope in scopes]
    if service := challenge.parameters.get("service"):
        asked.append(("service", service))
    headers = {"Authorization": _basic(credentials)} if credentials else {}
    address = httpx.URL(realm)
    address = address.copy_with(params=[*address.params.multi_items(), *asked])
    answer = http.send(http.build_request("GET", address, headers=headers), stream=True)
    content = read_bounded(answer, _MAX_ANSWER)
    if answer.status_code >= 500 or answer.status_code == 429:
        answer.raise_for_status()
    token = _token(content) if answer.status_code == 200 else None
    return f"Bearer {token}" if token else None


def _token(content: bytes) -> str | None:
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    token = document.get("token") or document.get("access_token")
    # A header takes nothing else.
    return token if isinstance(token, str) and re.fullmatch(r"[!-~]+", token) else None


def _basic(credentials: tuple[str, str]) -> str:
    return "Basic " + base64.b64encode(":".join(credentials).encode()).decode()
