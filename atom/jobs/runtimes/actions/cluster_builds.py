"""Builds of environments by pods: from the row of a build to its Job, its reports and its end.

A build is a row and a Job. Its pod sends an archive, which `build_results` verifies.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.clusters.registration.actions.stored_profiles import read_profile
from atom.clusters.registration.engines.profiles import build_profile_of
from atom.core import storage
from atom.core.crypto import hash_token, repeatable_secret
from atom.jobs import effects, states
from atom.jobs.event_kinds import EventKind
from atom.jobs.models import EnvironmentBuild, Runtime
from atom.jobs.runtimes.actions.runtimes import BuildReport, notify_waiting
from atom_sdk.runner.evidence import storable

log = structlog.get_logger(__name__)

TOKEN_PREFIX = "atombuild_"
_PURPOSE = "jobs.builds"
_START_AGAIN = timedelta(seconds=10)
_PUT_EXPIRES_S = 3600


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


def finish(build: EnvironmentBuild, **columns: Any) -> bool:
    """End a build with these columns of its environment; False if it ended meanwhile."""
    with transaction.atomic():
        if not _end(build):
            return False
        Runtime.objects.filter(pk=build.runtime_id).update(
            **columns, state=states.READY, built_at=Now(), claimed_until=None
        )
    log.info("environment_built", digest=build.runtime.digest, build=str(build.pk))
    return True


def fail(
    build: EnvironmentBuild,
    text: str,
    *,
    is_log: bool = False,
    image_failure: Mapping[str, Any] | None = None,
) -> None:
    """End a build, and with it the runs that wait; `text` is added to its log, or is the log.

    `image_failure`: code and params of a failure that is no fault of the requirements.
    """
    with transaction.atomic():
        if not _end(build):
            return
        runtime = Runtime.objects.select_for_update(no_key=True).get(pk=build.runtime_id)
        before = "" if is_log else runtime.log_tail
        runtime.log_tail = storable(f"{before}\n{text}".strip())
        runtime.state, runtime.claimed_until = states.FAILED, None
        runtime.image_failure = dict(image_failure or {})
        columns = ["log_tail", "state", "claimed_until", "image_failure", "updated_at"]
        runtime.save(update_fields=columns)
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
