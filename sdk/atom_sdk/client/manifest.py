"""Manifests over HTTP: objects come from presigned addresses and are kept by digest."""

from __future__ import annotations

from typing import Any

from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ClientError
from atom_sdk.client.http import Http, send_object
from atom_sdk.client.scan import Known, Parent
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests import FolderObjectStore, Root, ViewSelector, iter_ranges, read_root
from atom_sdk.manifests.layers import read_layer

_MANIFEST_FOLDER = "manifests"
SPLIT_LAYER = ViewSelector().split_layer


class RemoteManifest:
    """The `ObjectStore` of one version: reads are verified by their callers, writes refused."""

    def __init__(self, http: Http, version_base: str, *, with_quarantined: bool = False) -> None:
        self._http = http
        params = {"with_quarantined": "true"} if with_quarantined else {}
        answer = http.get(f"{version_base}manifest/", **params)
        self.quarantined: frozenset[bytes] = frozenset(
            map(bytes.fromhex, answer.get("quarantined_packs", []))
        )
        self._urls: dict[str, str] = answer["urls"]
        self._cache = FolderObjectStore(cache_path() / _MANIFEST_FOLDER)
        self.version: dict[str, Any] = answer["version"]
        self.root: Root = read_root(bytes.fromhex(answer["root_digest"]), self)

    def get(self, key: str) -> bytes:
        """Return an object of the manifest. Raises ObjectNotFoundError for any other key."""
        if self._cache.exists(key):
            return self._cache.get(key)
        if key not in self._urls:
            raise ObjectNotFoundError(key)
        data = send_object(self._http, "GET", self._urls[key]).content
        self._cache.put(key, data)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Refuse: versions are immutable and built by the server."""
        raise ClientError(f"The manifest object {key} cannot be written from here.")

    def exists(self, key: str) -> bool:
        """Return whether the manifest has the object."""
        return key in self._urls


def load_parent(http: Http, dataset_base: str, version: dict[str, Any]) -> Parent:
    """Return digests and places of every entry of a version, for comparing a folder with it.

    What lies in a quarantined pack counts as not stored: a push sends those files again.
    """
    base = f"{dataset_base}versions/{version['ref']}/"
    manifest = RemoteManifest(http, base, with_quarantined=True)
    parent = Parent()
    for table in iter_ranges(manifest.root, manifest):
        names = ("path", "size", "digest", "pack", "offset", "attributes")
        columns = [table.column(name).to_pylist() for name in names]
        for path, size, digest, pack, offset, attributes in zip(*columns, strict=True):
            parent.digests[path] = digest
            if attributes is not None:
                parent.attributes[path] = attributes
            if pack in manifest.quarantined:
                parent.damaged.add(path)
            elif pack is not None:
                parent.stored.setdefault(digest, Known(pack, offset, size))
    if (layer := manifest.root.layer(SPLIT_LAYER)) is not None:
        table = read_layer(layer, manifest)
        parent.splits.update(
            zip(table["path"].to_pylist(), table["value"].to_pylist(), strict=True)
        )
    return parent
