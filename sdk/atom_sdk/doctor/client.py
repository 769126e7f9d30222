"""The needs of a client: its configuration, the server, the token, the object store."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

import httpx

from atom_sdk import __version__
from atom_sdk.client import Client, config
from atom_sdk.client.errors import ApiError, ClientError, NotConfiguredError
from atom_sdk.client.transport.http import verification
from atom_sdk.doctor import machine
from atom_sdk.doctor.checks import Check, error, ok, run_all, warning

_TIMEOUT_S = 10.0
# Object stores refuse addresses that were signed by a clock that is 15 minutes wrong.
SKEW_WARNING_S, SKEW_ERROR_S = 30.0, 300.0
VERSION_HEADER = "Atom-Version"
_SOON_S = 7 * 86_400
_UNAUTHORIZED = 401
_DATASETS_TRIED = 20


class ClientDoctor:
    """One look at everything; later checks go by what earlier ones have found."""

    def __init__(self, project: str | None = None) -> None:
        """Take the project that the command line names."""
        self._project = project
        self._config: config.Config | None = None
        self._me: dict[str, Any] | None = None
        self._client: Client | None = None

    def checks(self) -> Iterator[Check]:
        """Yield the result of each check."""
        looks: list[Callable[[], Iterable[Check]]] = [
            machine.python,
            self._configuration,
            self._server,
            self._token,
            self._projects,
            self._object_store,
            self._server_health,
            self._cache,
            machine.packages,
            machine.mounts,
            machine.gpus,
        ]
        try:
            yield from run_all(looks)
        finally:
            if self._client is not None:
                self._client.close()

    def _configuration(self) -> Iterator[Check]:
        try:
            self._config = config.load(project=self._project)
        except NotConfiguredError as problem:
            yield error("configuration", str(problem), "Run: atom login URL")
            return
        where = f"{self._config.url}, project {self._config.project or 'not chosen'}"
        if not self._config.token:
            action = "Make a token in the portal under Access tokens; then run: atom login URL"
            yield error("configuration", f"{where}; there is no token.", action)
        else:
            yield ok("configuration", f"{where}.")

    def _server(self) -> Iterator[Check]:
        """Ask for the account of the token: one answer shows TLS, clock, version and token."""
        if self._config is None:
            return
        url = self._config.url
        headers = {"Authorization": f"Bearer {self._config.token}"} if self._config.token else {}
        try:
            with httpx.Client(timeout=_TIMEOUT_S, verify=verification(url)) as http:
                answer = http.get(f"{url}/api/v1/users/me/", headers=headers)
        except httpx.HTTPError as problem:
            yield _unreachable(url, problem)
            return
        version = answer.headers.get(VERSION_HEADER)
        if version is None and not _is_refusal_of_atom(answer):
            action = "Check the address: atom login URL. A proxy before Atom must pass its headers."
            yield error("server", f"{url} answers {answer.status_code}, not as Atom does.", action)
            return
        secure = " TLS is valid." if url.startswith("https:") else " Without TLS."
        yield ok("server", f"{url} answers.{secure}")
        if version is not None:
            yield from _versions(version)
        yield from _clock(answer.headers.get("Date", ""))
        if answer.status_code == httpx.codes.OK:
            self._me = answer.json()
            self._client = Client(project=self._project)
        elif answer.status_code != _UNAUTHORIZED:
            action = "Wait a moment; an administrator sees more under System health."
            yield error(
                "server", f"It answers {answer.status_code} to a signed-in request.", action
            )

    def _token(self) -> Iterator[Check]:
        if self._config is None or not self._config.token:
            return
        if self._me is None or self._client is None:
            action = "Make a token in the portal under Access tokens; then run: atom login URL"
            yield error("token", "The server did not take it.", action)
            return
        who = f"It belongs to {self._me['username']}"
        prefix = self._config.token.split("_")[1:2]
        tokens = self._client.http.pages("tokens/")
        mine = next((one for one in tokens if [one["prefix"]] == prefix), None)
        if mine is None:
            yield ok("token", f"{who}.")
            return
        scopes = ", ".join(mine["scopes"])
        bound = f", for the project {mine['project']} only" if mine["project"] else ""
        yield from _expiry(f"{who}, with the scopes {scopes}{bound}", mine["expires_at"])

    def _projects(self) -> Iterator[Check]:
        if self._client is None or self._config is None:
            return
        roles = {one["slug"]: one["role"] for one in self._client.http.pages("projects/")}
        chosen = self._config.project
        shown = ", ".join(sorted(roles)[:10]) or "none"
        if chosen in roles:
            yield ok("project", f"{chosen}, as {roles[chosen]}.")
        elif chosen:
            action = f"Choose one of yours with --project or ATOM_PROJECT: {shown}."
            yield error("project", f"{chosen!r} is no project that you see.", action)
        elif len(roles) == 1:
            yield ok("project", f"{shown}, the only one that you see.")
        else:
            action = f"Set ATOM_PROJECT; you see: {shown}."
            yield warning("project", "None is chosen.", action)

    def _object_store(self) -> Iterator[Check]:
        """Read one byte of a version, as pulls and loaders read packs."""
        if self._client is None:
            return
        try:
            address = _address_of_an_object(self._client)
        except (ClientError, NotConfiguredError, LookupError) as problem:
            yield warning(
                "object store", f"Not asked: {problem}", "Push a dataset, then try again."
            )
            return
        host = httpx.URL(address)
        where = f"{host.scheme}://{host.netloc.decode()}"
        try:
            answer = self._client.http.objects.get(address, headers={"Range": "bytes=0-0"})
        except httpx.HTTPError as problem:
            action = (
                "Open this address to this machine, or set S3_PUBLIC_ENDPOINT_URL on the server."
            )
            yield error("object store", f"{where} does not answer: {_reason(problem)}", action)
            return
        if answer.status_code == httpx.codes.PARTIAL_CONTENT and len(answer.content) == 1:
            yield ok("object store", f"{where} answers a request for a part.")
        else:
            action = "A proxy before the store must pass Range and the whole query of the address."
            detail = f"{where} answers {answer.status_code} to a request for one byte."
            yield error("object store", detail, action)

    def _server_health(self) -> Iterator[Check]:
        """Pass on what the server knows of itself: all of it to administrators."""
        if self._client is None or self._me is None:
            return
        if not self._me["is_admin"]:
            yield ok("server health", "Only administrators of the installation see it.")
            return
        findings = self._client.http.get("health/")["findings"]
        for one in findings:
            if one["level"] != "ok":
                action = one["action"] or "See the page System health in the portal."
                complain = error if one["level"] == "problem" else warning
                yield complain(f"server: {one['code']}", one["detail"], action)
        well = sum(one["level"] == "ok" for one in findings)
        yield ok("server health", f"{well} of {len(findings)} parts are well.")

    def _cache(self) -> Iterator[Check]:
        yield from machine.folder("cache", config.cache_path(), "ATOM_CACHE")


def _address_of_an_object(client: Client) -> str:
    """Return a presigned address. Raises LookupError where the project has nothing to read."""
    datasets = client.http.pages(f"projects/{client.project}/datasets/")
    for dataset in islice(datasets, _DATASETS_TRIED):
        base = client.datasets.version_base(f"{dataset['name']}@main")
        with suppress(ApiError):
            urls = client.http.get(f"{base}manifest/", addresses="root")["urls"]
            return str(next(iter(urls.values())))
    raise LookupError("the project has no version that can be read.")


def _unreachable(url: str, problem: httpx.HTTPError) -> Check:
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            action = "Set SSL_CERT_FILE to the certificate of the authority, or renew the server's."
            return error("server", f"TLS of {url} is not trusted: {cause}", action)
        cause = cause.__cause__ or cause.__context__
    action = "Check the address and the network; is the server up? Then: atom login URL"
    return error("server", f"{url} does not answer: {_reason(problem)}", action)


def _reason(problem: Exception) -> str:
    return str(problem) or type(problem).__name__


def _is_refusal_of_atom(answer: httpx.Response) -> bool:
    kind = answer.headers.get("Content-Type", "")
    return answer.is_error and kind.startswith("application/problem+json")


def _versions(server: str) -> Iterator[Check]:
    shown = f"SDK {__version__}, server {server}."
    if server.split(".")[:2] == __version__.split(".")[:2]:
        yield ok("version", shown)
    else:
        action = "Install the SDK of the server's version, or have the server upgraded."
        yield warning("version", shown, action)


def _clock(date: str) -> Iterator[Check]:
    try:
        ahead_s = time.time() - parsedate_to_datetime(date).timestamp()
    except ValueError:
        return
    detail = f"This machine's clock is {ahead_s:+.0f} s off the server's."
    if abs(ahead_s) > SKEW_ERROR_S:
        action = "Set the clock, for example by NTP: object stores refuse signed addresses."
        yield error("clock", detail, action)
    elif abs(ahead_s) > SKEW_WARNING_S:
        yield warning("clock", detail, "Set the clock, for example by NTP.")
    else:
        yield ok("clock", detail)


def _expiry(detail: str, expires_at: str | None) -> Iterator[Check]:
    if expires_at is None:
        yield ok("token", f"{detail}. It does not expire.")
        return
    left_s = datetime.fromisoformat(expires_at).timestamp() - time.time()
    shown = f"{detail}. It expires at {expires_at}."
    if left_s < _SOON_S:
        yield warning("token", shown, "Make another in the portal under Access tokens.")
    else:
        yield ok("token", shown)
