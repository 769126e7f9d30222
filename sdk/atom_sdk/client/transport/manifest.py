"""Manifests over HTTP: objects come from presigned addresses and are kept by digest."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ClientError
from atom_sdk.client.transport.http import Http, send_object
from atom_sdk.errors import ManifestError, ObjectNotFoundError
from atom_sdk.manifests import FolderObjectStore, Root, read_root
from atom_sdk.manifests.canonical import decode_json
from atom_sdk.manifests.objects import delta_key, group_key, layer_key, range_key
from atom_sdk.manifests.ranges.refs import RangeRef, ranges_of
from atom_sdk.manifests.roots.groups import GROUP_FORMAT

_MANIFEST_FOLDER = "manifests"
_ASKED_AT_ONCE = 500


class RemoteManifest:
    """The `ObjectStore` of one version: reads are verified by their callers, writes refused.

    `base` is the address of that version, whatever happens to a branch that named it. Addresses of
    objects are asked for when one is read, together with those that follow it.
    """

    def __init__(self, http: Http, version_base: str, *, with_quarantined: bool = False) -> None:
        self._http = http
        params = {"addresses": "root"}
        if with_quarantined:
            params["with_quarantined"] = "true"
        answer = http.get(f"{version_base}manifest/", **params)
        self.quarantined: frozenset[bytes] = frozenset(
            map(bytes.fromhex, answer.get("quarantined_packs", []))
        )
        # A server from before there was a choice gives all of them.
        self._urls: dict[str, str] = answer["urls"]
        self._listed: list[str] = []
        self._places: dict[str, int] = {}
        self._groups: set[str] = set()
        self._lock = threading.Lock()
        self._cache = FolderObjectStore(cache_path() / _MANIFEST_FOLDER)
        self.version: dict[str, Any] = answer["version"]
        # A branch may move while its manifest is read; the number of a version does not.
        datasets, _, _ = version_base.rstrip("/").rpartition("/")
        self.base = f"{datasets}/{self.version['ref']}/"
        self.root: Root = read_root(bytes.fromhex(answer["root_digest"]), self)
        groups = [group_key(group.object) for group in self.root.groups]
        self._groups.update(groups)
        self._list(groups)
        self._list(layer_key(name) for layer in self.root.layers for name in layer.layout)
        if not self.root.groups:
            self._list_ranges(self.root.ranges)

    def get(self, key: str) -> bytes:
        """Return an object of the manifest. Raises ObjectNotFoundError for any other key."""
        if self._cache.exists(key):
            data = self._cache.get(key)
        else:
            data = send_object(self._http, "GET", self._address(key)).content
            self._cache.put(key, data)
        if key in self._groups:
            self._list_group(key, data)
        return data

    def _list_group(self, key: str, data: bytes) -> None:
        # The reader checks it next, and reports errors.
        with suppress(ManifestError, IndexError, KeyError, TypeError, ValueError):
            self._list_ranges(ranges_of(decode_json(data, key, GROUP_FORMAT)))

    def _list_ranges(self, parts: Iterable[RangeRef]) -> None:
        for part in parts:
            self._list([range_key(part.object), *map(delta_key, part.deltas)])

    def _list(self, keys: Iterable[str]) -> None:
        """Take note of keys in the order in which they will be read."""
        with self._lock:
            for key in keys:
                if key not in self._places:
                    self._places[key] = len(self._listed)
                    self._listed.append(key)

    def _address(self, key: str) -> str:
        with self._lock:
            if key not in self._urls:
                if key not in self._places:
                    raise ObjectNotFoundError(key)
                body = {"keys": list(self._from(key))}
                self._urls |= self._http.post(f"{self.base}manifest-urls/", body)["urls"]
            return self._urls[key]

    def _from(self, key: str) -> Iterator[str]:
        """Keys to ask for: this one, and those after it that will be fetched too."""
        ahead = islice(self._listed, self._places[key], self._places[key] + _ASKED_AT_ONCE)
        return (k for k in ahead if k == key or not (k in self._urls or self._cache.exists(k)))

    def put(self, key: str, data: bytes) -> None:
        """Refuse: versions are immutable and built by the server."""
        raise ClientError(f"The manifest object {key} cannot be written from here.")

    def exists(self, key: str) -> bool:
        """Return whether the manifest has the object."""
        return key in self._urls or key in self._places
