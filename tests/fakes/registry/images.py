"""Images that tests put into a registry, and read from it as a container runtime does."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from typing import Any

from .server import Registry
from .store import digest_of

Json = dict[str, Any]
_OCI = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.oci.image.layer.v1.tar+gzip",
)
_DOCKER = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.container.image.v1+json",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
)


def machine_layer(name: str, content: bytes) -> bytes:
    """Return the bytes of a layer with one file."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 6, packed, 0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def add_image(
    registry: Registry,
    repository: str,
    tag: str,
    *,
    architectures: tuple[str, ...] = ("amd64",),
    docker: bool = False,
    payload: bytes = b"base",
) -> str:
    """Keep an image, of several platforms as an index; return the digest of the tag."""
    kind, index_kind, config_kind, layer_kind = _DOCKER if docker else _OCI
    store, rows = registry.store, []
    for architecture in architectures:
        layer = machine_layer("etc/machine", payload + architecture.encode())
        diff_id = f"sha256:{hashlib.sha256(gzip.decompress(layer)).hexdigest()}"
        config = _bytes(
            {
                "architecture": architecture,
                "os": "linux",
                "created": "2026-01-01T00:00:00Z",
                "config": {"Env": ["PATH=/usr/bin:/bin"]},
                "rootfs": {"type": "layers", "diff_ids": [diff_id]},
                "history": [{"created_by": "base"}],
            }
        )
        for content in (layer, config):
            store.put_blob(repository, digest_of(content), content)
        manifest = _bytes(
            {
                "schemaVersion": 2,
                "mediaType": kind,
                "config": _row(config_kind, config),
                "layers": [_row(layer_kind, layer)],
            }
        )
        reference = tag if len(architectures) == 1 else digest_of(manifest)
        digest = store.put_manifest(repository, reference, kind, manifest)
        platform = {"os": "linux", "architecture": architecture}
        rows.append({**_row(kind, manifest), "platform": platform})
    if len(architectures) == 1:
        return digest
    attestation = {**rows[0], "platform": {"os": "unknown", "architecture": "unknown"}}
    index = {"schemaVersion": 2, "mediaType": index_kind, "manifests": [attestation, *rows]}
    return store.put_manifest(repository, tag, index_kind, _bytes(index))


def read_image(
    registry: Registry, repository: str, reference: str
) -> tuple[Json, Json, list[Json]]:
    """Return manifest, configuration, and for each layer its members' information by name.

    Raises AssertionError for a layer whose content is not that of the configuration.
    """
    _, content = registry.store.manifest(repository, reference)
    manifest = json.loads(content)
    config = json.loads(registry.store.blob(repository, manifest["config"]["digest"]))
    layers = []
    assert len(config["rootfs"]["diff_ids"]) == len(manifest["layers"])
    for row, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        packed = registry.store.blob(repository, row["digest"])
        plain = gzip.decompress(packed)
        assert diff_id == f"sha256:{hashlib.sha256(plain).hexdigest()}"
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            layers.append({member.name: member for member in tar})
    return manifest, config, layers


def _row(kind: str, content: bytes) -> Json:
    return {"mediaType": kind, "digest": digest_of(content), "size": len(content)}


def _bytes(document: Json) -> bytes:
    return json.dumps(document).encode()
