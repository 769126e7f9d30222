"""Packed environments that no run uses are removed, and are built again when one does."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.clusters.models import Cluster
from atom.core import clock, storage
from atom.jobs import reconcile, states
from atom.jobs.executors import environments_in
from atom.jobs.models import EnvironmentBuild, Run, Runtime
from atom.jobs.runs.actions.runs import retry_run
from atom.jobs.runtimes.actions.archive_retention import remove_unused
from atom.jobs.tasks import apply_run_retention
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db

IMAGE = "registry.example/team/python:3"


@pytest.fixture
def later(settings: Any) -> datetime:
    """Keep environments for ten days; return a time at which those of today are older."""
    settings.ATOM_ENVIRONMENT_KEPT_DAYS = 10
    return clock.now() + timedelta(days=20)


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(
        name="east", kind="kubernetes", server="https://127.0.0.1:9", state="ready"
    )


@pytest.fixture
def runtime(cluster: Cluster, project: Project) -> Runtime:
    found = environments_in(cluster).ensure("numpy", IMAGE, project)
    assert found is not None
    found.archive_key = f"environments/{found.digest}/a.tar.gz"
    storage.objects().put(found.archive_key, b"packed")
    found.state, found.built_at, found.archive_bytes = states.READY, clock.now(), 6
    found.save()
    return found


def is_there(runtime: Runtime) -> bool:
    """Return whether row and bucket have the archive; they agree."""
    now = Runtime.objects.get(pk=runtime.pk)
    stored = storage.objects().exists(runtime.archive_key)
    assert stored == (now.archive_key == runtime.archive_key) == (now.state == states.READY)
    return stored


def ended(project: Project, runtime: Runtime, at: datetime, **fields: Any) -> Run:
    return make_run(project, runtime=runtime, finished_at=at, **{"state": states.FAILED, **fields})


def test_an_archive_that_nobody_used_for_long_goes_with_its_row_and_object(
    project: Project, runtime: Runtime, later: datetime
) -> None:
    ended(project, runtime, later - timedelta(days=11))
    assert remove_unused(later) == 1
    assert not is_there(runtime)
    assert Runtime.objects.get(pk=runtime.pk).archive_bytes == 0
    assert remove_unused(later) == 0


@pytest.mark.parametrize("state", sorted(states.ACTIVE))
def test_never_while_an_active_run_names_it(
    project: Project, runtime: Runtime, later: datetime, state: str
) -> None:
    make_run(project, runtime=runtime, state=state)
    assert remove_unused(later) == 0
    assert is_there(runtime)


def test_never_while_a_run_is_about_to_move_to_it(
    project: Project, runtime: Runtime, later: datetime
) -> None:
    make_run(project, move_runtime=runtime, state=states.RUNNING)
    assert remove_unused(later) == 0
    assert is_there(runtime)


def test_a_run_that_ended_lately_keeps_it(
    project: Project, runtime: Runtime, later: datetime
) -> None:
    ended(project, runtime, later - timedelta(days=9))
    assert remove_unused(later) == 0
    assert is_there(runtime)


def test_a_fresh_archive_that_no_run_has_used_yet_stays(runtime: Runtime, later: datetime) -> None:
    Runtime.objects.update(built_at=later - timedelta(days=9))
    assert remove_unused(later) == 0
    assert is_there(runtime)


def test_environments_of_our_own_machines_are_left_alone(later: datetime) -> None:
    long_ago = later - timedelta(days=99)
    own = Runtime.objects.create(digest="7" * 64, state=states.READY, built_at=long_ago)
    assert remove_unused(later) == 0
    own.refresh_from_db()
    assert own.state == states.READY


def test_the_next_run_builds_it_again(
    project: Project, runtime: Runtime, cluster: Cluster, later: datetime
) -> None:
    run = ended(project, runtime, later - timedelta(days=11), cluster=cluster)
    assert remove_unused(later) == 1
    retry_run(run.pk, make_member(project, "researcher"))
    reconcile.advance(run.pk)
    assert EnvironmentBuild.objects.get(ended_at=None).runtime == runtime
    assert Runtime.objects.get(pk=runtime.pk).state == states.BUILDING


def test_archives_that_no_row_names_go_once_no_build_can_be_about_to_name_them(
    runtime: Runtime, later: datetime
) -> None:
    orphan = f"environments/{runtime.digest}/cut-off.tar.gz"
    storage.objects().put(orphan, b"half")
    remove_unused(clock.now() + timedelta(hours=2))
    assert storage.objects().exists(orphan)
    remove_unused(clock.now() + timedelta(days=2))
    assert not storage.objects().exists(orphan)
    assert is_there(runtime)


def test_the_hourly_task_gives_unused_environments_up(runtime: Runtime, later: datetime) -> None:
    Runtime.objects.update(built_at=clock.now() - timedelta(days=11))
    apply_run_retention()
    runtime.refresh_from_db()
    assert (runtime.state, runtime.archive_key) == (states.PENDING, "")
