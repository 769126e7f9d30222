"""Environments of clusters: one for each digest of requirements, image and cluster.

A cluster can put anything into what it builds, so that only its own runs use it.
"""

from __future__ import annotations

from uuid import UUID

from blake3 import blake3
from django.db import transaction

from atom.accounts.models import Project
from atom.clusters.engines.registry_configs import SECRET_NAME
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.stored_profiles import image_repository
from atom.core import storage
from atom.jobs import effects, states
from atom.jobs.models import ProjectSecret, Runtime
from atom.jobs.runtimes.actions.runtimes import pip_options
from atom.jobs.runtimes.engines.requirements import normalise
from atom.jobs.runtimes.pipelines.sdk_wheel import sdk_digest

# Another form of the archive is another environment.
_FORM = "cluster-2"
_IMAGE_FORM = "cluster-image-1"


def digest_in(cluster: Cluster, image: str, requirements: str, project: Project) -> str:
    """Return the digest of the environment of these requirements in a cluster's image.

    The runner is no part of it: a new runner needs no new environment.
    """
    repository = image_repository(cluster)
    return _digest_in(cluster, image, requirements, repository, owner_of(project, repository))


def _digest_in(
    cluster: Cluster, image: str, requirements: str, repository: str, owner: UUID | None
) -> str:
    form = (_IMAGE_FORM, repository, str(owner)) if repository else (_FORM,)
    return _digest(*form, str(cluster.pk), image, *_packages(requirements))


def content_digest(runtime: Runtime, base_digest: str) -> str:
    """Return the digest of an environment by the content of its base image, whatever its name."""
    form = (_IMAGE_FORM, runtime.repository, str(runtime.owner), str(runtime.cluster_id))
    return _digest(*form, base_digest, *_packages(runtime.requirements))


def _packages(requirements: str) -> tuple[str, ...]:
    return (normalise(requirements), sdk_digest(without="runner"), *pip_options())


def _digest(*parts: str) -> str:
    return blake3("\0".join(parts).encode()).hexdigest()


def owner_of(project: Project, repository: str) -> UUID | None:
    """Return the project if its environments are its own, None if all projects share them.

    An image has the layers of its base. Only the project's credentials may read a private one.
    """
    if not repository:
        return None
    own = ProjectSecret.objects.filter(project=project, name=SECRET_NAME)
    return project.pk if own.exists() else None


def ensure_runtime_in(cluster: Cluster, image: str, requirements: str, project: Project) -> Runtime:
    """Return the row of the environment of these requirements in a cluster's image."""
    repository = image_repository(cluster)
    owner = owner_of(project, repository)
    runtime, _ = Runtime.objects.get_or_create(
        digest=_digest_in(cluster, image, requirements, repository, owner),
        defaults={
            "requirements": normalise(requirements),
            "image": image,
            "cluster": cluster,
            "repository": repository,
            "owner": owner,
        },
    )
    return runtime


def is_ready(runtime: Runtime) -> bool:
    """Return whether there is an archive or an image of the environment."""
    return runtime.state == states.READY and bool(runtime.archive_key or runtime.pushed_image)


def request(runtime: Runtime) -> None:
    """Have an environment built again that failed, or whose archive or image is gone.

    The transaction of a run that needs it keeps the row locked: retention sees the run first. A
    worker looks for the image, since registries may be slow.
    """
    with transaction.atomic():
        now = Runtime.objects.select_for_update(no_key=True).get(pk=runtime.pk)
        if now.state == states.READY and now.pushed_image:
            effects.look_for_image(now.pk)
            return
        lost = now.state == states.READY and not storage.objects().exists(now.archive_key)
        if lost or now.state == states.FAILED:
            now.state, now.log_tail, now.claimed_until = states.PENDING, "", None
            now.image_failure = {}
            now.save()
