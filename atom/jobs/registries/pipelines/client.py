"""The OCI distribution API of one registry: manifests and blobs are read and pushed.

See https://github.com/opencontainers/distribution-spec. Every digest is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from atom.clusters.engines.image_references import DIGEST, Repository
from atom.jobs.registries.engines import manifests
from atom.jobs.registries.engines.manifests import Blob
from atom.jobs.registries.errors import (
    MAX_SAID,
    RegistryAway,
    RegistryDenied,
    RegistryError,
    RegistryForbidden,
    RegistryFull,
    RegistryRefused,
)
from atom.jobs.registries.pipelines.connections import read_bounded
from atom.jobs.registries.pipelines.tokens import authorization, parse_challenge
from atom_sdk.public_hosts import AddressRefusedError, HostUnknownError

_MAX_DOCUMENT = 4 << 20
_MOST_REDIRECTS = 3
_PASSING = frozenset({408, 425, 429})
_FULL = frozenset({413, 507})
_QUOTA_WORDS = ("quota", "storage limit", "upper limit")
# Makes a body, and makes it again if the first request had no valid token.
Body = Callable[[], Iterable[bytes]]


class Registry:
    """A registry as one person reaches it; errors are RegistryError's."""

    def __init__(
        self,
        http: httpx.Client,
        at: Repository,
        credentials: tuple[str, str] | None,
        scopes: tuple[str, ...],
    ) -> None:
        """Ask for these scopes when the registry wants a token."""
        self._http, self._at, self._credentials, self._scopes = http, at, credentials, scopes
        self._authorization: str | None = None

    def manifest(self, path: str, version: str) -> tuple[str, bytes] | None:
        """Return media type and bytes of a manifest or index; None if it is not there.

        `version`: a tag or a digest.
        """
        headers = {"Accept": manifests.ACCEPTED}
        answer = self._ask("GET", f"/v2/{path}/manifests/{version}", headers=headers)
        if answer.status_code == 404:
            return None
        self._expect(answer, 200)
        content = answer.content
        if DIGEST.fullmatch(version) and manifests.digest_of(content) != version:
            raise self._nonsense(f"the manifest {version} has another digest")
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
        return kind, content

    def has_manifest(self, path: str, version: str) -> bool:
        """Return whether a manifest is there."""
        headers = {"Accept": manifests.ACCEPTED}
        return self._is_there(f"/v2/{path}/manifests/{version}", headers)

    def has_blob(self, path: str, digest: str) -> bool:
        """Return whether a repository has a blob."""
        return self._is_there(f"/v2/{path}/blobs/{digest}", {})

    def document(self, path: str, blob: Blob) -> bytes:
        """Return a small blob, such as a configuration."""
        if blob.size_bytes > _MAX_DOCUMENT:
            raise self._nonsense("a configuration is too large")
        content = b"".join(self.blob(path, blob))
        if manifests.digest_of(content) != blob.digest:
            raise self._nonsense(f"the blob {blob.digest} has another digest")
        return content

    def blob(self, path: str, blob: Blob) -> Iterator[bytes]:
        """Yield a blob's bytes as they come; their number is compared, not their digest."""
        size_bytes = 0
        with self._stream(f"/v2/{path}/blobs/{blob.digest}") as answer:
            for chunk in answer.iter_raw(1 << 20):
                size_bytes += len(chunk)
                if size_bytes > blob.size_bytes:
                    break
                yield chunk
        if size_bytes != blob.size_bytes:
            raise self._nonsense(f"the blob {blob.digest} has another size")

    def mount(self, path: str, digest: str, source: str) -> str:
        """Take a blob over from another repository; return "", or where to upload it instead."""
        query = {"mount": digest, "from": source}
        answer = self._ask("POST", f"/v2/{path}/blobs/uploads/", params=query)
        if answer.status_code == 201:
            return ""
        return self._begun(answer)

    def begin(self, path: str) -> str:
        """Return where to upload a blob."""
        return self._begun(self._ask("POST", f"/v2/{path}/blobs/uploads/"))

    def upload(self, location: str, blob: Blob, body: Body) -> None:
        """Upload a blob whole."""
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(blob.size_bytes),
        }
        address = httpx.URL(location)
        query = [*address.params.multi_items(), ("digest", blob.digest)]
        address = address.copy_with(params=query)
        self._expect(self._ask("PUT", address, headers=headers, body=body), 201)

    def put_manifest(self, path: str, tag: str, media_type: str, content: bytes) -> None:
        """Keep a manifest under a tag."""
        headers = {"Content-Type": media_type, "Content-Length": str(len(content))}
        address = f"/v2/{path}/manifests/{tag}"
        answer = self._ask("PUT", address, headers=headers, body=lambda: [content])
        self._expect(answer, 201)

    def _begun(self, answer: httpx.Response) -> str:
        self._expect(answer, 202)
        location = answer.headers.get("Location")
        if not location:
            raise self._nonsense("it names no place for an upload")
        return str(answer.request.url.join(location))

    def _is_there(self, path: str, headers: dict[str, str]) -> bool:
        answer = self._ask("HEAD", path, headers=headers)
        if answer.status_code == 404:
            return False
        self._expect(answer, 200)
        return True

    @contextmanager
    def _stream(self, path: str) -> Iterator[httpx.Response]:
        request = self._request("GET", path)
        with self._registry_errors():
            answer = self._send(request)
        try:
            self._expect(answer, 200)
            with self._registry_errors():
                yield answer
        finally:
            answer.close()

    def _ask(
        self,
        method: str,
        address: str | httpx.URL,
        *,
        body: Body | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Return the whole answer, which is small. Raises RegistryError."""
        with self._registry_errors():
            answer = self._send(self._request(method, address, body, **options), body)
            content = read_bounded(answer, _MAX_DOCUMENT)
        # The bytes are what digests are of, whatever encoding the registry names.
        headers = {
            name: value
            for name, value in answer.headers.items()
            if name not in ("content-encoding", "transfer-encoding")
        }
        return httpx.Response(
            answer.status_code, headers=headers, content=content, request=answer.request
        )

    def _request(
        self, method: str, address: str | httpx.URL, body: Body | None = None, **options: Any
    ) -> httpx.Request:
        url = httpx.URL(self._at.origin).join(address)
        content = None if body is None else iter(body())
        return self._http.build_request(method, url, content=content, **options)

    def _send(self, request: httpx.Request, body: Body | None = None) -> httpx.Response:
        """Send it, a second time with the credentials that the registry asks for."""
        answer = self._follow(self._signed(request))
        if answer.status_code != 401:
            return answer
        challenge = parse_challenge(answer.headers.get("WWW-Authenticate", ""))
        asks = (self._credentials, self._scopes)
        found = authorization(self._http, challenge, *asks, is_plain=self._at.is_plain)
        if found is None:
            return answer
        answer.close()
        self._authorization = found
        content = None if body is None else iter(body())
        headers = {k: v for k, v in request.headers.items() if k.lower() != "authorization"}
        again = httpx.Request(request.method, request.url, headers=headers, content=content)
        return self._follow(self._signed(again))

    def _signed(self, request: httpx.Request) -> httpx.Request:
        """Add the credentials, for the registry's own address alone."""
        own, url = httpx.URL(self._at.origin), request.url
        if self._authorization and (url.scheme, url.netloc) == (own.scheme, own.netloc):
            request.headers["Authorization"] = self._authorization
        return request

    def _follow(self, request: httpx.Request) -> httpx.Response:
        """Send it, and follow reads to the store of the registry, without credentials."""
        answer = self._http.send(request, stream=True)
        for _ in range(_MOST_REDIRECTS):
            if request.method not in ("GET", "HEAD") or answer.next_request is None:
                break
            answer.close()
            request = self._signed(_without_credentials(answer.next_request))
            answer = self._http.send(request, stream=True)
        return answer

    def _expect(self, answer: httpx.Response, status: int) -> None:
        """Raise what an answer means unless it has the status."""
        code = answer.status_code
        if code == status:
            return
        said = said_of(answer)
        names = {"registry": self._at.registry, "said": said}
        if (code >= 500 and code not in _FULL) or code in _PASSING:
            raise RegistryAway(**names)
        words = said.lower()
        if code in _FULL or (code >= 400 and any(word in words for word in _QUOTA_WORDS)):
            raise RegistryFull(**names, repository=self._at.path)
        if code in (401, 403):
            raise RegistryDenied(**names, repository=self._at.path)
        raise RegistryRefused(**names)

    def _nonsense(self, said: str) -> RegistryError:
        return RegistryRefused(registry=self._at.registry, said=said)

    @contextmanager
    def _registry_errors(self) -> Iterator[None]:
        """Turn errors of connections into RegistryError's."""
        names = {"registry": self._at.registry}
        try:
            yield
        except AddressRefusedError as error:
            raise RegistryForbidden(**names, said=str(error)) from error
        except HostUnknownError as error:
            raise RegistryAway(**names, said=str(error)) from error
        except httpx.HTTPStatusError as error:
            raise RegistryAway(**names, said=f"HTTP {error.response.status_code}") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            said = str(error) or type(error).__name__
            raise RegistryAway(**names, said=said[:MAX_SAID]) from error
        except (httpx.InvalidURL, ValueError) as error:
            raise RegistryRefused(**names, said=str(error)[:MAX_SAID]) from error


def _without_credentials(request: httpx.Request) -> httpx.Request:
    request.headers.pop("Authorization", None)
    return request


def said_of(answer: httpx.Response) -> str:
    """Return a registry's own words for an error, else its status."""
    status = f"HTTP {answer.status_code}"
    try:
        document: Any = answer.json() if answer.is_closed else None
    except ValueError:
        return status
    errors = document.get("errors") if isinstance(document, dict) else None
    first = errors[0] if isinstance(errors, list) and errors else None
    if not isinstance(first, dict):
        return status
    words = " ".join(str(first[key]) for key in ("code", "message") if first.get(key))
    printable = "".join(letter for letter in words if letter.isprintable())
    return printable[:MAX_SAID] or status
