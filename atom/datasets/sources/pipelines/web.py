"""One place that speaks HTTP: sends, tries again, and reads answers with bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from atom.core.foreign_json import read_json
from atom.datasets.sources.pipelines.addresses import check_url
from atom.datasets.sources.pipelines.answers import answering, check_status, understood, whole_body
from atom.datasets.sources.pipelines.connections import http_client

Params = Mapping[str, str]


class WebPlace:
    """A service at `base`. For several threads."""

    def __init__(self, base: str, allowed: Sequence[str], auth: httpx.Auth | None = None) -> None:
        """Raises SourceAddressRefused or SourceAway."""
        check_url(base, allowed)
        self.base = base.rstrip("/")
        self._client = http_client(allowed)
        self._auth = auth

    @contextmanager
    def stream(
        self, path: str, params: Params | None = None, headers: Params | None = None
    ) -> Iterator[httpx.Response]:
        """Open an answer of any status. Raises SourceAway, SourceAddressRefused."""
        with (
            answering(self.base),
            self._client.stream(
                "GET", self.base + path, params=params or None, headers=headers, auth=self._auth
            ) as answer,
        ):
            yield answer

    def get(
        self, path: str, params: Params, what: str, headers: Params | None = None
    ) -> tuple[httpx.Response, bytes]:
        """Return a good answer with all of its body. Raises SourceError."""
        with self.stream(path, params, headers) as answer:
            check_status(answer, what)
            return answer, whole_body(answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post_form(self, url: str, fields: Params) -> tuple[int, bytes]:
        """Return status and body of a form that was sent to any address."""
        with answering(url), self._client.stream("POST", url, data=dict(fields)) as answer:
            return answer.status_code, whole_body(answer)


def json_of(body: bytes, kind: str) -> dict[str, Any]:
    """Return a JSON object. Raises SourceOdd for anything else."""
    with understood(kind):
        found = read_json(body)
        if not isinstance(found, dict):
            raise TypeError
    return found
