"""How requests to Azure Blob say who sends them: Shared Key, SAS, or not at all."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Generator
from email.utils import formatdate
from urllib.parse import parse_qsl

import httpx

from atom.core.errors import Invalid
from atom.datasets.source_spec import Credentials
from atom_sdk.sentences import Sentence

API_VERSION = "2021-12-02"
# In this order they are signed; what is not sent counts as empty.
_SIGNED = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


def azure_auth(account: str, credentials: Credentials) -> httpx.Auth:
    """Return what signs requests. Raises Invalid for a key that is none."""
    if credentials.sas_token:
        return _Sas(credentials.sas_token)
    return _SharedKey(account, credentials.account_key)


class _Sas(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._parameters = dict(parse_qsl(token.strip().lstrip("?")))
        if "sig" not in self._parameters:
            raise Invalid(
                errors={
                    "sas_token": [
                        Sentence("datasets.sas_token_invalid", "A SAS token has a part `sig=`.")
                    ]
                }
            )

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the token behind the address."""
        request.url = request.url.copy_merge_params(self._parameters)
        request.headers["x-ms-version"] = API_VERSION
        yield request


class _SharedKey(httpx.Auth):
    """An account's key; without one, nothing but the version is sent."""

    def __init__(self, account: str, key: str) -> None:
        self._account = account
        try:
            self._key = base64.b64decode(key, validate=True)
        except binascii.Error as exc:
            raise Invalid(
                errors={
                    "account_key": [
                        Sentence("datasets.account_key_invalid", "An account's key is base64.")
                    ]
                }
            ) from exc

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign the request as it is sent."""
        request.headers["x-ms-version"] = API_VERSION
        if self._key:
            request.headers["x-ms-date"] = formatdate(usegmt=True)
            text = string_to_sign(request, self._account).encode()
            digest = hmac.new(self._key, text, hashlib.sha256).digest()
            signature = base64.b64encode(digest).decode()
            request.headers["Authorization"] = f"SharedKey {self._account}:{signature}"
        yield request


def string_to_sign(request: httpx.Request, account: str) -> str:
    """Return what a Shared Key signs, of API versions since 2015-02-21."""
    headers = request.headers
    lines = [request.method, *(headers.get(name, "") for name in _SIGNED)]
    # A length of nothing is signed as if it were not sent.
    lines = ["" if line == "0" else line for line in lines]
    own = sorted(name for name in headers if name.startswith("x-ms-"))
    lines += [f"{name}:{headers[name].strip()}" for name in own]
    path = request.url.raw_path.decode("ascii").partition("?")[0]
    lines.append(f"/{account}{path}")
    parameters: dict[str, list[str]] = {}
    for name, value in request.url.params.multi_items():
        parameters.setdefault(name.lower(), []).append(value)
    lines += [f"{name}:{','.join(sorted(parameters[name]))}" for name in sorted(parameters)]
    return "\n".join(lines)
