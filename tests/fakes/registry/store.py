"""The content of the stand-in: blobs of each repository, manifests and tags."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class RefusedError(Exception):
    """An answer that is an error of the specification."""

    status: int
    code: str
    message: str = ""


@dataclass
class Repository:
    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Store:
    """Repositories by name; `quota_bytes` bounds the blobs of each."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    quota_bytes: int | None = None

    def repository(self, name: str) -> Repository:
        return self.repositories.setdefault(name, Repository())

    def put_blob(self, name: str, digest: str, content: bytes) -> None:
        """Keep a blob. Raises RefusedError for another digest, and above the quota."""
        if digest_of(content) != digest:
            raise RefusedError(400, "DIGEST_INVALID", "provided digest did not match")
        blobs = self.repository(name).blobs
        used = sum(map(len, blobs.values())) + len(content)
        if self.quota_bytes is not None and used > self.quota_bytes:
            text = f"adding {len(content)} B of storage will exceed the configured upper limit"
            raise RefusedError(412, "PRECONDITION", text)
        blobs[digest] = content

    def put_manifest(self, name: str, reference: str, media_type: str, content: bytes) -> str:
        """Keep a manifest whose parts are there. Raises RefusedError."""
        document = self._parsed(media_type, content)
        for part in _parts(document):
            self._check_part(name, part)
        for part in document.get("manifests", ()):
            if part["digest"] not in self.repository(name).manifests:
                raise RefusedError(400, "MANIFEST_BLOB_UNKNOWN", part["digest"])
        digest = digest_of(content)
        if reference.startswith("sha256:") and reference != digest:
            raise RefusedError(400, "DIGEST_INVALID")
        repository = self.repository(name)
        repository.manifests[digest] = (media_type, content)
        if not reference.startswith("sha256:"):
            repository.tags[reference] = digest
        return digest

    def manifest(self, name: str, reference: str) -> tuple[str, bytes]:
        """Return a manifest. Raises RefusedError."""
        repository = self.repositories.get(name)
        if repository is None:
            raise RefusedError(404, "NAME_UNKNOWN", "repository name not known to registry")
        digest = repository.tags.get(reference, reference)
        if digest not in repository.manifests:
            raise RefusedError(404, "MANIFEST_UNKNOWN", "manifest unknown")
        return repository.manifests[digest]

    def blob(self, name: str, digest: str) -> bytes:
        """Return a blob. Raises RefusedError."""
        repository = self.repositories.get(name)
        if repository is None or digest not in repository.blobs:
            raise RefusedError(404, "BLOB_UNKNOWN", "blob unknown to registry")
        return repository.blobs[digest]

    def _parsed(self, media_type: str, content: bytes) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(content)
        if document.get("schemaVersion") != 2 or document.get("mediaType") != media_type:
            raise RefusedError(400, "MANIFEST_INVALID", "media type or schema version")
        if media_type not in INDEXES and not {"config", "layers"} <= document.keys():
            raise RefusedError(400, "MANIFEST_INVALID", "no config or no layers")
        return document

    def _check_part(self, name: str, part: dict[str, Any]) -> None:
        content = self.repository(name).blobs.get(part["digest"])
        if content is None or len(content) != part["size"]:
            raise RefusedError(400, "MANIFEST_BLOB_UNKNOWN", part["digest"])


def _parts(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [document["config"], *document["layers"]] if "config" in document else []
