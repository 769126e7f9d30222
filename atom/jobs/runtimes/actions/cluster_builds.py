"""Environments that pods build: one archive for each digest of requirements, image and cluster.

A build is a row and a Job. Its pod sends the archive, which is verified here before runs get it.
A cluster can put anything into what it builds, so that only its own runs use the archive.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from blake3 import blake3
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.stored_profiles import read_profile
from atom.clusters.registration.engines.profiles import build_profile_of
from atom.core import clock, storage
from atom.core.crypto import hash_token, repeatable_secret
from atom.core.leases import kept
from atom.jobs import effects, states
from atom.jobs.event_kinds import EventKind
from atom.jobs.models import EnvironmentBuild, Runtime
from atom.jobs.runtimes.actions.runtimes import BuildReport, notify_waiting, pip_options
from atom.jobs.runtimes.engines.requirements import normalise
from atom.jobs.runtimes.pipelines.sdk_wheel import sdk_digest
from atom_sdk.runner.evidence import storable

log = structlog.get_logger(__name__)

TOKEN_PREFIX = "atombuild_"
_PURPOSE = "jobs.builds"
# Another form of the archive is another environment.
_FORM = "cluster-2"
_CLAIM = timedelta(seconds=60)
_RENEW_EVERY_S = 15.0
_START_AGAIN = timedelta(seconds=10)
_PUT_EXPIRES_S = 3600


def digest_in(cluster: Cluster, image: str, requirements: str) -> str:
    """Return the digest of the environment of these requirements in a cluster's image.

    The runner is no part of it: a new runner needs no new environment.
    """
    sdk = sdk_digest(without="runner")
    parts = (_FORM, str(cluster.pk), image, normalise(requirements), sdk, *pip_options())
    return blake3("\0".join(parts).encode()).hexdigest()


def ensure_runtime_in(cluster: Cluster, image: str, requirements: str) -> Runtime:
    """Return the row of the environment of these requirements in a cluster's image."""
    runtime, _ = Runtime.objects.get_or_create(
        digest=digest_in(cluster, image, requirements),
        defaults={"requirements": normalise(requirements), "image": image, "cluster": cluster},
    )
    return runtime


def request_archive(runtime: Runtime) -> None:
    """Have an environment built again that failed, or whose archive is gone.

    The transaction of a run that needs it keeps the row locked: retention sees the run first.
    """
    with transaction.atomic():
        now = Runtime.objects.select_for_update(no_key=True).get(pk=runtime.pk)
        lost = now.state == states.READY and not storage.objects().exists(now.archive_key)
        if lost or now.state == states.FAILED:
            now.state, now.log_tail, now.claimed_until = states.PENDING, "", None
            now.save(update_fields=["state", "log_tail", "claimed_until", "updated_at"])


def nudge(runtime: Runtime, project: Project, namespace: str) -> None:
    """Begin a build in the environment's cluster unless one is open; called every second.

    `project`: a run of it waits for the environment; `namespace`: that of the project there.
    """
    cluster = runtime.cluster
    if cluster is None or runtime.builds.filter(ended_at=None).exists():
        return
    with transaction.atomic():
        now = Runtime.objects.select_for_update(no_key=True).get(pk=runtime.pk)
        if now.state not in (states.PENDING, states.BUILDING):
            return
        if now.builds.filter(ended_at=None).exists():
            return
        number = now.builds.aggregate(last=Max("number"))["last"] or 0
        begun = EnvironmentBuild.objects.create(
            runtime=now,
            cluster=cluster,
            project=project,
            namespace=namespace,
            pod_profile=build_profile_of(read_profile(cluster)).as_json(),
            number=number + 1,
        )
        now.state, now.claimed_until = states.BUILDING, None
        now.save(update_fields=["state", "claimed_until", "updated_at"])
        nudge_start(begun)


def open_builds() -> QuerySet[EnvironmentBuild]:
    """Return the builds that are not over."""
    return EnvironmentBuild.objects.filter(ended_at=None).select_related("runtime", "cluster")


def nudge_start(build: EnvironmentBuild) -> None:
    """Have the cluster asked for the Job; asks rarely."""
    if _claim(build, _START_AGAIN):
        effects.start_build(build.pk)


def nudge_verify(build: EnvironmentBuild) -> None:
    """Have the archive verified that no live worker verifies; asks rarely."""
    if _claim(build, _START_AGAIN):
        effects.verify_build(build.pk)


def _claim(build: EnvironmentBuild, time: timedelta) -> int:
    idle = Q(claimed_until__isnull=True) | Q(claimed_until__lt=Now())
    rows = Runtime.objects.filter(idle, pk=build.runtime_id, state=states.BUILDING)
    return rows.update(claimed_until=Now() + time)


def issue_token(build: EnvironmentBuild, identity: Mapping[str, Any]) -> str:
    """Give the pod of a build its token, the same each time; that of an earlier pod ends."""
    token = TOKEN_PREFIX + repeatable_secret(_PURPOSE, str(build.pk), str(identity["pod_uid"]))
    EnvironmentBuild.objects.filter(pk=build.pk).update(
        token_hash=hash_token(token), identity=dict(identity)
    )
    return token


def find_by_token(token: str) -> EnvironmentBuild | None:
    """Return the open build whose token this is."""
    return open_builds().filter(token_hash=hash_token(token)).first()


def note_log(build: EnvironmentBuild, text: str) -> None:
    """Keep the last lines of a build and show the very last to the runs that wait."""
    text = storable(text)
    if not build.runtime.log_tail:
        begun = "Its Python environment is being built; later runs start at once."
        notify_waiting(build.runtime, EventKind.RUNTIME, begun)
    Runtime.objects.filter(pk=build.runtime_id, state=states.BUILDING).update(log_tail=text)
    last = text.rstrip().rsplit("\n", 1)[-1]
    BuildReport(build.runtime).show(f"Building the environment: {last}"[:200])


def staging_key(build: EnvironmentBuild) -> str:
    """Return where the pod puts the archive; it never gets an address of the final key."""
    return f"staging/environments/{build.pk}"


def upload_address(build: EnvironmentBuild) -> str:
    """Return an address that takes the archive."""
    return storage.objects().presign_put(staging_key(build), _PUT_EXPIRES_S)


def note_sent(build: EnvironmentBuild, sent: Mapping[str, Any]) -> None:
    """Take the pod's word for its archive, and have it verified; safe to repeat.

    `sent`: archive_bytes, sha256, python, machine, size_bytes.
    """
    mine = EnvironmentBuild.objects.filter(pk=build.pk, ended_at=None, sent={})
    if mine.update(sent=dict(sent)):
        Runtime.objects.filter(pk=build.runtime_id).update(claimed_until=None)
        nudge_verify(build)


def verify(build_id: UUID) -> None:
    """Copy an archive out of its pod's reach, hash the copy, and give it to the runs that wait."""
    build = open_builds().filter(pk=build_id).exclude(sent={}).first()
    if build is None:
        return
    rows = Runtime.objects.filter(pk=build.runtime_id, state=states.BUILDING)
    with kept(lambda: rows.update(claimed_until=Now() + _CLAIM) and None, _RENEW_EVERY_S):
        _verify(build)
    effects.wake()


def _verify(build: EnvironmentBuild) -> None:
    objects, key = storage.objects(), f"environments/{build.runtime.digest}/{build.pk}.tar.gz"
    try:
        objects.copy(staging_key(build), key)
    except storage.ObjectMissing:
        if not objects.exists(key):
            fail(build, "The archive of the environment did not arrive.")
            return
    sha256, size_bytes = hashlib.sha256(), 0
    for chunk in objects.views(key):
        sha256.update(chunk)
        size_bytes += len(chunk)
    if (sha256.hexdigest(), size_bytes) != (build.sent["sha256"], build.sent["archive_bytes"]):
        objects.delete(key)
        fail(build, "The archive of the environment is not the one that its pod has described.")
    else:
        _finish(build, key)
    objects.delete(staging_key(build))


def _finish(build: EnvironmentBuild, key: str) -> None:
    sent = build.sent
    with transaction.atomic():
        if not _end(build):
            return
        Runtime.objects.filter(pk=build.runtime_id).update(
            state=states.READY,
            archive_key=key,
            archive_sha256=sent["sha256"],
            archive_bytes=sent["archive_bytes"],
            size_bytes=sent["size_bytes"],
            python=sent["python"],
            built_at=Now(),
            claimed_until=None,
        )
    took_s = (clock.now() - build.created_at).total_seconds()
    text = f"Its Python environment was built in {took_s:.0f} s ({sent['size_bytes'] >> 20} MiB)."
    facts = {"took_s": took_s, "size_bytes": sent["size_bytes"]}
    notify_waiting(build.runtime, EventKind.RUNTIME_BUILT, text, **facts)
    log.info("environment_built", digest=build.runtime.digest, build=str(build.pk))


def fail(build: EnvironmentBuild, text: str, *, is_log: bool = False) -> None:
    """End a build, and with it the runs that wait; `text` is added to its log, or is the log."""
    with transaction.atomic():
        if not _end(build):
            return
        runtime = Runtime.objects.select_for_update(no_key=True).get(pk=build.runtime_id)
        before = "" if is_log else runtime.log_tail
        runtime.log_tail = storable(f"{before}\n{text}".strip())
        runtime.state, runtime.claimed_until = states.FAILED, None
        runtime.save(update_fields=["log_tail", "state", "claimed_until", "updated_at"])
    log.info("environment_failed", digest=build.runtime.digest, build=str(build.pk))
    effects.wake()


def give_up(build: EnvironmentBuild) -> None:
    """End a build that its cluster took away; a run that waits begins another."""
    with transaction.atomic():
        if _end(build):
            rows = Runtime.objects.filter(pk=build.runtime_id, state=states.BUILDING)
            rows.update(state=states.PENDING, claimed_until=None)
    effects.wake()


def _end(build: EnvironmentBuild) -> int:
    rows = EnvironmentBuild.objects.filter(pk=build.pk, ended_at=None)
    return rows.update(ended_at=Now(), token_hash="", updated_at=Now())
