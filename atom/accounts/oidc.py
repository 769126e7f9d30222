"""Requests to the provider of single sign-on (OpenID Connect Core 1.0, code flow with PKCE).

Requests go only to addresses that administrators configured or that their provider names. Input of
a visitor never chooses an address.
"""

from __future__ import annotations

import secrets
import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

import httpx
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from django.conf import settings
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from atom.accounts.errors import SingleSignOnFailed
from atom.core import clock
from atom.settings.oidc import OidcSettings

CALLBACK = "/api/v1/auth/oidc/callback/"
_TIMEOUT_S = 10.0
_LEEWAY_S = 60
_SUBJECT_CHARS = 255
# Signed by a key that only the provider has: neither `none` nor a secret that we share with it.
_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_PUBLIC_KEYS = ("RSA", "EC", "OKP")


@dataclass(frozen=True)
class Start:
    """A visit to the provider that begins, and what its end is checked by."""

    url: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True)
class Claims:
    """A person's claims at a provider; `email` is empty unless the provider has verified it."""

    subject: str
    email: str = ""
    username: str = ""
    full_name: str = ""
    language: str = ""
    groups: frozenset[str] = frozenset()
    has_second_factor: bool = False


def begin() -> Start:
    """Return where to send a browser. Raises SingleSignOnFailed."""
    state, nonce = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    verifier = secrets.token_urlsafe(48)
    with _http() as http, _client({}) as client:
        endpoint = _endpoint(_metadata(http), "authorization_endpoint")
        url, _ = client.create_authorization_url(
            endpoint, state=state, code_verifier=verifier, nonce=nonce
        )
    return Start(url, state, nonce, verifier)


def finish(code: str, verifier: str, nonce: str) -> Claims:
    """Return who came back with a code. Raises SingleSignOnFailed."""
    with _http() as http:
        metadata = _metadata(http)
        token = _exchange(metadata, code, verifier)
        id_token = token.get("id_token")
        if not isinstance(id_token, str):
            raise SingleSignOnFailed("sso_invalid", "no ID token")
        said = _verified(id_token, _keys(http, metadata), nonce)
        if "email" not in said and "userinfo_endpoint" in metadata:
            said = {**_userinfo(http, metadata, token, said["sub"]), **said}
    return _claims(said)


def sign_out_url() -> str | None:
    """Return where a browser signs out of the provider too, if it has such a place."""
    oidc: OidcSettings = settings.ATOM_OIDC
    if not (oidc.is_on and oidc.ends_provider_session):
        return None
    try:
        with _http() as http:
            endpoint = _metadata(http).get("end_session_endpoint")
    except SingleSignOnFailed:
        return None
    if not isinstance(endpoint, str):
        return None
    back = {"client_id": oidc.client_id, "post_logout_redirect_uri": settings.ATOM_PUBLIC_URL}
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(back)}"


@cache
def _trusted() -> ssl.SSLContext:
    """Return whose certificates are taken; to read them takes longer than to ask."""
    return httpx.create_ssl_context()


def _http() -> httpx.Client:
    return httpx.Client(timeout=_TIMEOUT_S, verify=_trusted())


def _metadata(http: httpx.Client) -> dict[str, Any]:
    oidc: OidcSettings = settings.ATOM_OIDC
    found = _json(http, f"{oidc.issuer.rstrip('/')}/.well-known/openid-configuration")
    # Another issuer's document would have us trust its keys for this one.
    if found.get("issuer") != oidc.issuer:
        raise SingleSignOnFailed("sso_provider", f"the issuer calls itself {found.get('issuer')!r}")
    return found


def _client(metadata: dict[str, Any]) -> OAuth2Client:
    oidc: OidcSettings = settings.ATOM_OIDC
    known = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    method = "client_secret_basic" if "client_secret_basic" in known else "client_secret_post"
    return OAuth2Client(
        oidc.client_id,
        oidc.client_secret or None,
        scope=oidc.scopes,
        redirect_uri=settings.ATOM_PUBLIC_URL + CALLBACK,
        token_endpoint_auth_method=method if oidc.client_secret else "none",
        code_challenge_method="S256",
        timeout=_TIMEOUT_S,
        verify=_trusted(),
    )


def _exchange(metadata: dict[str, Any], code: str, verifier: str) -> dict[str, Any]:
    with _client(metadata) as client:
        try:
            found: dict[str, Any] = client.fetch_token(
                _endpoint(metadata, "token_endpoint"),
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
            )
        except AuthlibBaseError as refused:
            raise SingleSignOnFailed("sso_invalid", str(refused)) from refused
        except (httpx.HTTPError, ValueError) as away:
            raise SingleSignOnFailed("sso_provider", type(away).__name__) from away
    return found


def _keys(http: httpx.Client, metadata: dict[str, Any]) -> KeySet:
    """Return the provider's public keys of now; it may change them at any time."""
    rows = _json(http, _endpoint(metadata, "jwks_uri")).get("keys")
    if not isinstance(rows, list):
        raise SingleSignOnFailed("sso_provider", "no keys")
    public = [
        row for row in rows
        if isinstance(row, dict) and row.get("kty") in _PUBLIC_KEYS and row.get("use") != "enc"
    ]  # fmt: skip
    try:
        return KeySet.import_key_set({"keys": public})
    except (JoseError, ValueError, KeyError, TypeError) as wrong:
        raise SingleSignOnFailed("sso_provider", "strange keys") from wrong


def _verified(id_token: str, keys: KeySet, nonce: str) -> dict[str, Any]:
    """Return the claims of a token that the issuer signed for us, now, for this very visit."""
    oidc: OidcSettings = settings.ATOM_OIDC
    rules = jwt.JWTClaimsRegistry(
        now=int(clock.now().timestamp()),
        leeway=_LEEWAY_S,
        iss={"essential": True, "value": oidc.issuer},
        sub={"essential": True},
        aud={"essential": True, "value": oidc.client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        said: dict[str, Any] = jwt.decode(id_token, keys, algorithms=_ALGORITHMS).claims
        rules.validate(said)
    except (JoseError, ValueError, KeyError, TypeError) as wrong:
        raise SingleSignOnFailed("sso_invalid", f"{type(wrong).__name__}: {wrong}") from wrong
    audience = said["aud"] if isinstance(said["aud"], list) else [said["aud"]]
    party = said.get("azp", oidc.client_id if len(audience) == 1 else None)
    if party != oidc.client_id or not 0 < len(said["sub"]) <= _SUBJECT_CHARS:
        raise SingleSignOnFailed("sso_invalid", "it is for another party")
    return said


def _userinfo(
    http: httpx.Client, metadata: dict[str, Any], token: dict[str, Any], subject: str
) -> dict[str, Any]:
    bearer = {"Authorization": f"Bearer {token.get('access_token', '')}"}
    found = _json(http, _endpoint(metadata, "userinfo_endpoint"), bearer)
    # Core 5.3.2: a substituted token would give another person's claims.
    if found.get("sub") != subject:
        raise SingleSignOnFailed("sso_invalid", "userinfo of another subject")
    return found


def _claims(said: dict[str, Any]) -> Claims:
    groups = said.get(settings.ATOM_OIDC.groups_claim)
    groups = [groups] if isinstance(groups, str) else groups
    methods = said.get("amr")
    return Claims(
        subject=said["sub"],
        email=_text(said, "email") if said.get("email_verified") is True else "",
        username=_text(said, "preferred_username") or _text(said, "email").partition("@")[0],
        full_name=_text(said, "name"),
        language="zh" if _text(said, "locale").lower().startswith("zh") else "en",
        groups=frozenset(str(one) for one in groups) if isinstance(groups, list) else frozenset(),
        # RFC 8176: several factors of different kinds.
        has_second_factor=isinstance(methods, list) and "mfa" in methods,
    )


def _text(said: dict[str, Any], name: str) -> str:
    found = said.get(name)
    # Neither PostgreSQL nor a header takes these.
    return found.replace("\0", "").strip() if isinstance(found, str) else ""


def _endpoint(metadata: dict[str, Any], name: str) -> str:
    found = metadata.get(name)
    if not isinstance(found, str):
        raise SingleSignOnFailed("sso_provider", f"no {name}")
    return found


def _json(http: httpx.Client, url: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    try:
        found = http.get(url, headers=headers).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as away:
        raise SingleSignOnFailed("sso_provider", f"{url}: {type(away).__name__}") from away
    if not isinstance(found, dict):
        raise SingleSignOnFailed("sso_provider", f"{url}: no object")
    return found
