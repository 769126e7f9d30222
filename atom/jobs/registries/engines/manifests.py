"""Manifests and configurations of images: one is chosen, and a layer is added. Pure.

Both families of media types are read: those of OCI and those of Docker (schema 2).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

OCI_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX: Final = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST: Final = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX: Final = "application/vnd.docker.distribution.manifest.list.v2+json"
MANIFESTS: Final = (OCI_MANIFEST, DOCKER_MANIFEST)
INDEXES: Final = (OCI_INDEX, DOCKER_INDEX)
ACCEPTED: Final = ", ".join((*MANIFESTS, *INDEXES))
_LAYER_OF: Final = {
    OCI_MANIFEST: "application/vnd.oci.image.layer.v1.tar+gzip",
    DOCKER_MANIFEST: "application/vnd.docker.image.rootfs.diff.tar.gzip",
}
# Names of `platform.machine()` and of images.
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}


class WrongManifestError(Exception):
    """A document that is no manifest of an image; the message says why."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The descriptor of a blob, such as `sha256:…`, and its size."""

    digest: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: its compressed bytes, and the digest of the tar inside."""

    blob: Blob
    diff_id: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image of one platform; `media_type` is that of its manifest."""

    media_type: str
    manifest: Json
    config: Json

    @property
    def layers(self) -> list[Blob]:
        """Return the layers, the lowest first."""
        return [blob_of(one) for one in self.manifest["layers"]]


def digest_of(content: bytes) -> str:
    """Return the digest of a document."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def encode(document: Mapping[str, Any]) -> bytes:
    """Return a document's bytes: the same document has the same ones."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def decode(content: bytes) -> Json:
    """Return a document. Raises WrongManifestError."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise WrongManifestError("it is not JSON") from error
    if not isinstance(document, dict):
        raise WrongManifestError("it is no object")
    return document


def blob_of(descriptor: object) -> Blob:
    """Return what a descriptor names. Raises WrongManifestError."""
    found = descriptor if isinstance(descriptor, dict) else {}
    digest, size_bytes = found.get("digest"), found.get("size")
    if not isinstance(digest, str) or not isinstance(size_bytes, int) or size_bytes < 0:
        raise WrongManifestError("a descriptor has no digest or no size")
    if len(digest) != len("sha256:") + 64 or not digest.startswith("sha256:"):
        raise WrongManifestError("a digest is not of SHA-256")
    return Blob(digest, size_bytes)


def choose(index: Mapping[str, Any], machine: str) -> Blob | None:
    """Return the manifest of an index for a machine, None if it has none.

    `machine`: as `platform.machine()` names it, for instance x86_64.
    """
    rows = index.get("manifests")
    wanted = _MACHINES.get(machine, machine)
    for row in rows if isinstance(rows, list) else ():
        found = row.get("platform") if isinstance(row, dict) else None
        found = found if isinstance(found, dict) else {}
        if (found.get("os"), found.get("architecture")) == ("linux", wanted):
            return blob_of(row)
    return None


def image_of(media_type: str, manifest: Json, config: Json) -> Image:
    """Return an image whose parts fit together. Raises WrongManifestError."""
    layers = manifest.get("layers")
    rootfs = config.get("rootfs")
    diff_ids = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(layers, list) or not isinstance(diff_ids, list):
        raise WrongManifestError("it lists no layers")
    if len(layers) != len(diff_ids):
        raise WrongManifestError("its layers are not those of its configuration")
    image = Image(media_type, manifest, config)
    _ = image.layers
    return image


def append(base: Image, layers: Sequence[Layer], created_by: str) -> tuple[bytes, bytes]:
    """Return manifest and configuration of an image with more layers; the same for the same."""
    rootfs = base.config["rootfs"]
    history = base.config.get("history")
    # The base's own time: the same base and layers give the same digest.
    entry = {"created": base.config.get("created") or "1980-01-01T00:00:00Z"}
    config = {
        **base.config,
        "rootfs": {**rootfs, "diff_ids": [*rootfs["diff_ids"], *(one.diff_id for one in layers)]},
        "history": [
            *(history if isinstance(history, list) else ()),
            *({**entry, "created_by": created_by} for _ in layers),
        ],
    }
    content = encode(config)
    manifest = {
        **base.manifest,
        "schemaVersion": 2,
        "mediaType": base.media_type,
        "config": {**base.manifest["config"], **_descriptor(content)},
        "layers": [*base.manifest["layers"], *(_row(base, one.blob) for one in layers)],
    }
    # They vouch for the base alone.
    for name in ("annotations", "subject"):
        manifest.pop(name, None)
    return encode(manifest), content


def _descriptor(content: bytes) -> Json:
    return {"digest": digest_of(content), "size": len(content)}


def _row(base: Image, blob: Blob) -> Json:
    media_type = _LAYER_OF[base.media_type]
    return {"mediaType": media_type, "digest": blob.digest, "size": blob.size_bytes}
