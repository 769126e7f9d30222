"""Base images are looked up, and images with one more layer are pushed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import structlog
from httpx import Client

from atom.clusters.engines.image_references import ImageReference, Repository
from atom.jobs.registries.engines import manifests
from atom.jobs.registries.engines.manifests import Blob, Image, WrongManifestError
from atom.jobs.registries.errors import (
    BaseDenied,
    BaseMissing,
    BaseUnfit,
    RegistryDenied,
    RegistryRefused,
)
from atom.jobs.registries.pipelines.client import Body, Registry
from atom.jobs.registries.pipelines.connections import (
    ANY_NETWORK,
    PATIENT_S,
    QUICK_S,
    http_client,
)
from atom.jobs.registries.pipelines.layers import LayerFile

log = structlog.get_logger(__name__)

Pair = tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Access:
    """The repository that images go to, and who reads and writes where.

    `networks`: in which registries of base images may be, beside public addresses.
    """

    target: Repository
    push: Pair
    pull: Pair
    networks: Sequence[str] = ()


def digest_of_base(base: ImageReference, access: Access) -> str:
    """Return the digest of a base image, or of its index. Raises RegistryError."""
    with _base_registry(base, access) as registry:
        _, content = _manifest(registry, base, base.version)
    return manifests.digest_of(content)


def has_image(access: Access, digest: str) -> bool:
    """Return whether the target has an image; asks quickly. Raises RegistryError."""
    with http_client(ANY_NETWORK, QUICK_S) as http:
        return _target(http, access).has_manifest(access.target.path, digest)


def push(base: ImageReference, machine: str, layer: LayerFile, access: Access) -> str:
    """Push a base image with one more layer and return the digest. Raises RegistryError.

    The target gets no part that it has already. `base.version` is a digest; `machine` is that of
    the nodes, as `platform.machine()` names it.
    """
    path = access.target.path
    with _base_registry(base, access) as source, http_client(ANY_NETWORK, PATIENT_S) as http:
        image = _read(source, base, machine)
        manifest, config = manifests.append(image, [layer.layer], "atom environment")
        digest = manifests.digest_of(manifest)
        target = _target(http, access, base)
        if target.has_manifest(path, digest):
            return digest
        for blob in image.layers:
            _copy(source, base, target, access, blob)
        _add(target, path, layer.layer.blob, layer.chunks)
        _add(target, path, Blob(manifests.digest_of(config), len(config)), lambda: [config])
        # Registries remove manifests that have no tag.
        target.put_manifest(path, tag_of(digest), image.media_type, manifest)
    log.info("image_pushed", repository=access.target.name, digest=digest)
    return digest


def tag_of(digest: str) -> str:
    """Return the tag of a pushed image: a name for people, runs use the digest."""
    return f"atom-{digest.removeprefix('sha256:')[:40]}"


def _add(target: Registry, path: str, blob: Blob, body: Body) -> None:
    if not target.has_blob(path, blob.digest):
        target.upload(target.begin(path), blob, body)


def _copy(
    source: Registry, base: ImageReference, target: Registry, access: Access, blob: Blob
) -> None:
    """Bring a layer of the base into the target: within one registry no byte is moved."""
    path, origin = access.target.path, base.repository.path
    if target.has_blob(path, blob.digest):
        return
    is_same = base.repository.registry == access.target.registry
    location = target.mount(path, blob.digest, origin) if is_same else target.begin(path)
    if location:
        target.upload(location, blob, lambda: source.blob(origin, blob))


def _read(registry: Registry, base: ImageReference, machine: str) -> Image:
    """Return the base image for a machine. Raises RegistryError."""
    unfit = BaseUnfit(image=base.repository.name, machine=machine)
    try:
        kind, content = _manifest(registry, base, base.version)
        if kind in manifests.INDEXES:
            blob = manifests.choose(manifests.decode(content), machine)
            if blob is None:
                raise unfit
            kind, content = _manifest(registry, base, blob.digest)
        if kind not in manifests.MANIFESTS:
            raise unfit
        manifest = manifests.decode(content)
        config = registry.document(base.repository.path, manifests.blob_of(manifest.get("config")))
        return manifests.image_of(kind, manifest, manifests.decode(config))
    except WrongManifestError as error:
        said = f"the manifest of {base.repository.name} is wrong: {error}"
        raise RegistryRefused(registry=base.repository.registry, said=said) from error


def _manifest(registry: Registry, base: ImageReference, version: str) -> tuple[str, bytes]:
    try:
        found = registry.manifest(base.repository.path, version)
    except RegistryDenied as error:
        raise BaseDenied(image=base.repository.name) from error
    if found is None:
        raise BaseMissing(image=base.repository.name, version=version)
    return found


@contextmanager
def _base_registry(base: ImageReference, access: Access) -> Iterator[Registry]:
    """Open the registry of a base image: one that no administrator has named must be public."""
    repository, networks = base.repository, access.networks
    if repository.registry == access.target.registry:
        # The administrator has said whether it has TLS.
        repository, networks = replace(repository, is_plain=access.target.is_plain), ANY_NETWORK
    with http_client(networks) as http:
        yield Registry(http, repository, access.pull, (f"repository:{repository.path}:pull",))


def _target(http: Client, access: Access, base: ImageReference | None = None) -> Registry:
    """Return the target; a base of the same registry is read there too, to take layers over."""
    scopes = [f"repository:{access.target.path}:pull,push"]
    if base is not None and base.repository.registry == access.target.registry:
        scopes.append(f"repository:{base.repository.path}:pull")
    return Registry(http, access.target, access.push, tuple(scopes))
