"""Results of builds: the archive of a pod becomes an archive for runs, or an image."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models.functions import Now

from atom.core import clock, storage
from atom.core.leases import kept
from atom.jobs import effects, states
from atom.jobs.event_kinds import EventKind
from atom.jobs.failures.engines.image_failures import image_failure
from atom.jobs.models import EnvironmentBuild, Runtime
from atom.jobs.registries.errors import RegistryAway, RegistryError
from atom.jobs.registries.pipelines.layers import LayerError
from atom.jobs.runtimes.actions import cluster_builds, cluster_images
from atom.jobs.runtimes.actions.cluster_builds import staging_key
from atom.jobs.runtimes.actions.cluster_images import WrongArchiveError
from atom.jobs.runtimes.actions.cluster_runtimes import content_digest
from atom.jobs.runtimes.actions.runtimes import BuildReport, notify_waiting
from atom_sdk.runner.evidence import storable

log = structlog.get_logger(__name__)

_CLAIM = timedelta(seconds=60)
_RENEW_EVERY_S = 15.0
# How long a registry may be away before a build ends.
AWAY_S = 3600
_NOT_SENT = "The archive of the environment did not arrive."
_OTHER_ARCHIVE = "The archive of the environment is not the one that its pod has described."


def settle_base(build: EnvironmentBuild) -> bool:
    """Note the content of a build's image; return whether its Job may be made.

    An environment that becomes an archive needs none. One of the same content that is pushed
    already is taken instead. A registry that is away is asked again.
    """
    runtime = build.runtime
    if not runtime.repository or build.base_image:
        return True
    try:
        base = cluster_images.find_base(build)
        content = content_digest(runtime, base.version)
        Runtime.objects.filter(pk=runtime.pk).update(content_digest=content)
        if _take_twin(build, content):
            return False
    except RegistryError as error:
        _not_now(build, error)
        return False
    build.base_image = base.at(base.version)
    build.save(update_fields=["base_image", "updated_at"])
    return True


def _take_twin(build: EnvironmentBuild, content: str) -> bool:
    """Take the image of an environment of the same content, if its registry has it still."""
    others = Runtime.objects.filter(content_digest=content, state=states.READY)
    twin = others.exclude(pk=build.runtime_id).exclude(pushed_image="").first()
    if twin is None or not cluster_images.is_pushed(twin, build.project):
        return False
    columns = ("pushed_image", "pushed_runner", "python", "size_bytes", "log_tail")
    if cluster_builds.finish(build, **{name: getattr(twin, name) for name in columns}):
        text = "Its Python environment is an image that was pushed before."
        notify_waiting(build.runtime, EventKind.RUNTIME_BUILT, text)
    effects.wake()
    return True


def verify(build_id: UUID) -> None:
    """Keep what a pod has sent as the environment of the runs that wait; safe to repeat."""
    build = (
        cluster_builds.open_builds()
        .select_related("project")
        .filter(pk=build_id)
        .exclude(sent={})
        .first()
    )
    if build is None:
        return
    rows = Runtime.objects.filter(pk=build.runtime_id, state=states.BUILDING)
    with kept(lambda: rows.update(claimed_until=Now() + _CLAIM) and None, _RENEW_EVERY_S):
        (_push if build.runtime.repository else _store)(build)
    effects.wake()


def _push(build: EnvironmentBuild) -> None:
    """Push the image of a build, and delete the archive that it was made of."""
    key = staging_key(build)
    _show(build, f"Pushing the environment to {build.runtime.repository}")
    try:
        pushed = cluster_images.push_image(build, key)
    except RegistryAway as error:
        _not_now(build, error)
        return
    except RegistryError as error:
        _not_now(build, error)
    except storage.ObjectMissing:
        cluster_builds.fail(build, _NOT_SENT)
    except WrongArchiveError:
        cluster_builds.fail(build, _OTHER_ARCHIVE)
    except LayerError as error:
        cluster_builds.fail(build, str(error))
    else:
        _finish(build, pushed_image=pushed.image, pushed_runner=pushed.runner)
    storage.objects().delete(key)


def _not_now(build: EnvironmentBuild, error: RegistryError) -> None:
    """End a build that its registry refuses; one whose registry is away waits for an hour."""
    age_s = (clock.now() - build.created_at).total_seconds()
    if isinstance(error, RegistryAway) and age_s < AWAY_S + settings.ATOM_RUNTIME_BUILD_TIMEOUT_S:
        registry, said = error.params["registry"], error.params["said"]
        _show(build, f"The registry {registry} does not answer ({said}); Atom asks again.")
        log.info("registry_away", build=str(build.pk), registry=registry, said=said)
        return
    failure = image_failure(error.code, error.params)
    named = {"code": error.code, "params": dict(error.params)}
    cluster_builds.fail(build, failure.reason, image_failure=named)


def _show(build: EnvironmentBuild, text: str) -> None:
    """Add a line to the log of an environment, unless it is the last one, and show it."""
    runtime = Runtime.objects.get(pk=build.runtime_id)
    if not runtime.log_tail.endswith(text):
        log_tail = storable(f"{runtime.log_tail}\n{text}".strip())
        Runtime.objects.filter(pk=runtime.pk, state=states.BUILDING).update(log_tail=log_tail)
    BuildReport(runtime).show(text)


def _store(build: EnvironmentBuild) -> None:
    """Copy an archive out of its pod's reach and hash the copy."""
    objects, key = storage.objects(), f"environments/{build.runtime.digest}/{build.pk}.tar.gz"
    try:
        objects.copy(staging_key(build), key)
    except storage.ObjectMissing:
        if not objects.exists(key):
            cluster_builds.fail(build, _NOT_SENT)
            return
    sha256, size_bytes = hashlib.sha256(), 0
    for chunk in objects.views(key):
        sha256.update(chunk)
        size_bytes += len(chunk)
    if (sha256.hexdigest(), size_bytes) != (build.sent["sha256"], build.sent["archive_bytes"]):
        objects.delete(key)
        cluster_builds.fail(build, _OTHER_ARCHIVE)
    else:
        sent = build.sent
        _finish(
            build,
            archive_key=key,
            archive_sha256=sent["sha256"],
            archive_bytes=sent["archive_bytes"],
        )
    objects.delete(staging_key(build))


def _finish(build: EnvironmentBuild, **columns: Any) -> None:
    size_bytes, python = build.sent["size_bytes"], build.sent["python"]
    if not cluster_builds.finish(build, size_bytes=size_bytes, python=python, **columns):
        return
    took_s = (clock.now() - build.created_at).total_seconds()
    text = f"Its Python environment was built in {took_s:.0f} s ({size_bytes >> 20} MiB)."
    facts = {"took_s": took_s, "size_bytes": size_bytes}
    notify_waiting(build.runtime, EventKind.RUNTIME_BUILT, text, **facts)
