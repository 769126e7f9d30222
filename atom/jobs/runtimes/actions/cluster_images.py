"""Environments as images: the base is looked up, and the image is pushed to the cluster's registry.

The server pushes. The pod of a build runs programs that users chose, so it gets no credentials.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, cast
from uuid import UUID

import structlog
from django.conf import settings

from atom.accounts.models import Project
from atom.clusters.engines.image_references import ImageReference, parse_image, parse_repository
from atom.clusters.engines.registry_configs import (
    SECRET_NAME,
    WrongConfigError,
    credentials_of,
    parse_config,
)
from atom.clusters.registration.actions.stored_profiles import image_credentials
from atom.core import crypto, storage
from atom.jobs import states
from atom.jobs.models import EnvironmentBuild, ProjectSecret, Runtime
from atom.jobs.registries.errors import BaseMissing, RegistryError, RegistryRefused
from atom.jobs.registries.pipelines.images import Access, digest_of_base, has_image, push
from atom.jobs.registries.pipelines.layers import Source, write_layer
from atom.jobs.runtimes.engines.image_paths import ENVIRONMENT, RUNNER
from atom.jobs.runtimes.pipelines.runner_zip import runner_zip

log = structlog.get_logger(__name__)

# No push takes so long.
_LEFT_FOR_S: Final = 86_400
_OTHER_KEY: Final = "its credentials were stored with another encryption key; set them again"


class WrongArchiveError(Exception):
    """The archive is not the one that its pod has described."""


@dataclass(frozen=True, slots=True)
class PushedImage:
    """An image by its digest, and the SHA-256 (hex) of the runner inside."""

    image: str
    runner: str


def find_base(build: EnvironmentBuild) -> ImageReference:
    """Return the image of a build, with the digest that its tag has now. Raises RegistryError."""
    named = parse_image(build.runtime.image)
    if named is None:
        raise BaseMissing(image=build.runtime.image, version="")
    return replace(named, version=digest_of_base(named, _access(build.runtime, build.project)))


def push_image(build: EnvironmentBuild, key: str) -> PushedImage:
    """Push the image of a build: its base, and its archive and the runner as one layer.

    The archive's bytes are read once, so that its pod cannot change them in between. Raises
    WrongArchiveError, LayerError, RegistryError, ObjectMissing.
    """
    base = parse_image(build.base_image)
    assert base is not None
    runner, runner_sha256 = runner_zip()
    access = _access(build.runtime, build.project)
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        source = Source(storage.objects().views(key))
        programs = {RUNNER: runner.read_bytes()}
        layer = write_layer(Path(folder) / "layer", _readable(source), ENVIRONMENT, programs)
        found = (source.digest(), source.size_bytes)
        if found != (build.sent["sha256"], build.sent["archive_bytes"]):
            raise WrongArchiveError
        digest = push(base, build.sent["machine"], layer, access)
    return PushedImage(f"{access.target.name}@{digest}", runner_sha256)


def _readable(source: Source) -> IO[bytes]:
    return cast("IO[bytes]", source)


def _scratch() -> Path:
    """Return a folder for layers; those that killed workers left there a day ago go."""
    folder = Path(settings.ATOM_HOME) / "pushes"
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        # Another worker may remove it, too.
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < time.time() - _LEFT_FOR_S:
                shutil.rmtree(left, ignore_errors=True)
    return folder


def is_pushed(runtime: Runtime, project: Project) -> bool:
    """Return whether the registry has the environment's image. Raises RegistryError."""
    return has_image(_access(runtime, project), runtime.pushed_image.partition("@")[2])


def look_for_image(runtime_id: UUID) -> None:
    """Have an environment built again whose image is gone from its registry."""
    runtime = Runtime.objects.filter(pk=runtime_id, state=states.READY).exclude(pushed_image="")
    found = runtime.select_related("cluster").first()
    if found is None:
        return
    build = found.builds.select_related("project").order_by("-number").first()
    assert build is not None, "what was pushed was built"
    try:
        if is_pushed(found, build.project):
            return
    except RegistryError as error:
        # A run that cannot pull it says so; nothing is known here.
        log.info("image_not_looked_for", digest=found.digest, why=error.params)
        return
    runtime.update(state=states.PENDING, pushed_image="", claimed_until=None)
    log.info("image_gone", digest=found.digest)


def _access(runtime: Runtime, project: Project) -> Access:
    """Return who pushes and pulls: the cluster's credentials push, else those of the project.

    The project's credentials read a base only if the environment is the project's own.
    """
    target = parse_repository(runtime.repository)
    assert target is not None
    assert runtime.cluster is not None
    own = _config_of(project) if runtime.owner == project.pk else None
    try:
        shared = image_credentials(runtime.cluster)
    except crypto.BadSignature as error:
        raise RegistryRefused(registry=target.registry, said=_OTHER_KEY) from error
    named = parse_image(runtime.image)
    return Access(
        target,
        push=_pair(shared or own, target.registry),
        pull=_pair(own, named.repository.registry) if named else None,
        networks=settings.ATOM_REGISTRY_NETWORKS,
    )


def _pair(config: Mapping[str, Any] | None, registry: str) -> tuple[str, str] | None:
    return credentials_of(config, registry) if config else None


def _config_of(project: Project) -> dict[str, Any] | None:
    stored = ProjectSecret.objects.filter(project=project, name=SECRET_NAME).first()
    if stored is None:
        return None
    try:
        return parse_config(crypto.decrypt(stored.encrypted_value))
    except (crypto.BadSignature, WrongConfigError) as error:
        raise RegistryRefused(registry=SECRET_NAME, said=_OTHER_KEY) from error
