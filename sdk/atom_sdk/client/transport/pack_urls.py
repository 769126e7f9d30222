"""Presigned addresses of packs, asked for in batches and renewed before they expire."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Protocol

from atom_sdk.client.config import Config
from atom_sdk.client.transport.http import Http
from atom_sdk.forks import forget_in_children

_BATCH = 200
# A clock that is wrong by hours must not make each request ask again.
_SHORTEST_USE_S = 30.0


class PackAddresses(Protocol):
    """Knows where packs can be read."""

    def url(self, pack: bytes) -> str:
        """Return an address that is good now."""

    def renew(self, pack: bytes, refused: str, trouble: str = "") -> str:
        """Return another address than one that did not serve.

        With `trouble` (missing, digest, refused, away) one that may lead to another store.
        """

    def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True)
class _Address:
    url: str
    use_until_s: float


class PackUrls:
    """Addresses of the packs of one version. Thread-safe, fork-safe, can be pickled."""

    def __init__(
        self,
        config: Config,
        version_base: str,
        packs: Sequence[bytes],
        *,
        has_replicas: bool = False,
    ) -> None:
        """`packs` in the order in which they will be needed, as far as that is known.

        `has_replicas`: addresses may lead to second stores, as those of runs do.
        """
        self._config = config
        self._has_replicas = has_replicas
        self._version_base = version_base
        self._packs = list(packs)
        self._place = {pack: number for number, pack in enumerate(self._packs)}
        self._known: dict[bytes, _Address] = {}
        self._http: Http | None = None
        self._lock = threading.Lock()
        forget_in_children(self)

    def url(self, pack: bytes) -> str:
        """Return an address that is good now. Raises ApiError, NetworkError."""
        with self._lock:
            return self._good(pack) or self._ask(pack)

    def renew(self, pack: bytes, refused: str, trouble: str = "") -> str:
        """Return a new address, unless another thread has got one since.

        With `trouble` (missing, digest, refused, away) the address of this pack alone is renewed,
        and may lead to another store. Without replicas it stays.
        """
        with self._lock:
            known = self._good(pack)
            if known is not None and (known != refused or (trouble and not self._has_replicas)):
                return known
            return self._ask(pack, trouble)

    def forget(self) -> None:
        """Use connections of this process."""
        self._http, self._lock = None, threading.Lock()

    def close(self) -> None:
        """Close the connections; asking opens new ones."""
        with self._lock:
            if self._http is not None:
                self._http.close()
                self._http = None

    def __del__(self) -> None:
        """Close the connections; there are none if the constructor failed."""
        with suppress(AttributeError):
            self.close()

    def _good(self, pack: bytes) -> str | None:
        known = self._known.get(pack)
        return known.url if known and monotonic() < known.use_until_s else None

    def _ask(self, pack: bytes, trouble: str = "") -> str:
        if self._http is None:
            self._http = Http(self._config)
        place = self._place.get(pack, len(self._packs))
        following = [
            other for other in self._packs[place : place + _BATCH] if not self._good(other)
        ]
        wanted = dict.fromkeys([pack] if trouble else [pack, *following])
        body: dict[str, object] = {"packs": [other.hex() for other in wanted]}
        if trouble:
            body["trouble"] = trouble
        answer = self._http.post(f"{self._version_base}pack-urls/", body)
        until_s = _use_until_s(answer["expires_at"])
        for digest, url in answer["urls"].items():
            self._known[bytes.fromhex(digest)] = _Address(url, until_s)
        return self._known[pack].url

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Pickle what to ask, not the connection."""
        make = partial(PackUrls, has_replicas=self._has_replicas)
        return make, (self._config, self._version_base, self._packs)


def _use_until_s(expires_at: str) -> float:
    """Three quarters of its life, so that a long request ends in time."""
    life_s = (datetime.fromisoformat(expires_at) - datetime.now(UTC)).total_seconds()
    return monotonic() + max(_SHORTEST_USE_S, 0.75 * life_s)
