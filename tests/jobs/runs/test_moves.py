"""A run moves to another cluster: it goes on there from its checkpoint, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.attempts import beat, find_by_token, note_exit, note_started
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import Placement, Rank, Run, Runtime
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runtimes.actions.cluster_runtimes import ensure_runtime_in
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

OLD, NEW = "registry.example/team/train:1", "registry.example/team/train:2"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def worlds(db: None, settings: Any) -> Iterator[tuple[World, World]]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True) as east, StandIn(tls=True) as west:
        east.nodes.add("e1")
        west.nodes.add("w1")
        yield World(east, "east"), World(west, "west")


@pytest.fixture
def run(project: Project, worlds: tuple[World, World]) -> Run:
    return make_run(
        project,
        cluster=worlds[0].cluster,
        state=states.QUEUED,
        command=["true"],
        max_retries=0,
    )


@pytest.fixture
def person(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, "researcher"))
    return client


def move(client: APIClient, run: Run, cluster: str = "west", **body: Any) -> Any:
    return client.post(f"/api/v1/runs/{run.pk}/move/", {"cluster": cluster, **body}, format="json")


def start(world: World, run: Run) -> tuple[Placement, Rank]:
    """Let the run's pod start its command."""
    placement = world.submit(run)
    answer = world.join(placement, world.pod(placement)).json()
    assert answer["answer"] == "start", answer
    rank = find_by_token(answer["token"])
    assert rank is not None
    note_started(rank.attempt, 1)
    return placement, rank


def next_attempt(run: Run) -> None:
    reconcile.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    run.refresh_from_db()


def test_a_running_command_is_asked_to_stop_and_goes_on_in_the_other_cluster(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    east, west = worlds
    _, rank = start(east, run)
    answer = move(person, run)
    assert answer.status_code == 200, answer.content
    assert answer.json()["cluster"] == "west"
    run.refresh_from_db()
    assert explain(run).code == "to_another_cluster"
    rank = Rank.objects.select_related("attempt__run").get(pk=rank.pk)
    assert beat(rank).cancel
    note_exit(rank.attempt_id, ExitReport("cancelled", 0), {"outputs_failed": [], "no_more": True})
    next_attempt(run)
    assert run.state in (states.RETRY_WAIT, states.QUEUED, states.SUBMITTED)
    placement, _ = start(west, run)
    assert placement.cluster == west.cluster
    classes = run.attempts.order_by("number").values_list("failure_class", flat=True)
    assert list(classes) == ["MOVED", ""]
    assert remove_ended() == 1
    assert not [one for one in east.stand_in.store.objects("jobs.batch")
                if not one["metadata"].get("deletionTimestamp")]  # fmt: skip


def test_a_cluster_that_is_gone_holds_no_run_back_and_its_pod_may_not_go_on(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    east, west = worlds
    placement, rank = start(east, run)
    pod = east.pod(placement)
    token = east.token(pod)
    assert move(person, run).status_code == 200
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert run.state == states.RUNNING
    long_ago = clock.now() - timedelta(minutes=2)
    Run.objects.filter(pk=run.pk).update(moving_since=long_ago)
    Rank.objects.filter(pk=rank.pk).update(heartbeat_at=long_ago)
    next_attempt(run)
    answer = east.join(placement, pod, token=token).json()
    assert answer["answer"] == "stop", answer
    start(west, run)
    assert Rank.objects.get(pk=rank.pk).token_hash == ""


def test_a_failed_run_starts_again_in_the_other_cluster(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    Run.objects.filter(pk=run.pk).update(state=states.FAILED)
    assert move(person, run).json()["state"] == "queued"
    run.refresh_from_db()
    placement, _ = start(worlds[1], run)
    assert placement.cluster == worlds[1].cluster


def test_a_run_that_waits_gives_up_its_old_placement(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    assert move(person, run, image=NEW).status_code == 200
    run.refresh_from_db()
    assert run.image == NEW
    assert worlds[1].submit(run).cluster == worlds[1].cluster


@pytest.mark.parametrize("exit_code", [0, 3])
def test_a_run_that_ends_before_it_is_moved_stays_as_and_where_it_ran(
    run: Run, worlds: tuple[World, World], person: APIClient, exit_code: int
) -> None:
    built = ensure_runtime_in(worlds[0].cluster, OLD, "numpy", run.project)
    Runtime.objects.filter(pk=built.pk).update(state=states.READY, archive_key="environments/a")
    Run.objects.filter(pk=run.pk).update(image=OLD, runtime=built)
    _, rank = start(worlds[0], run)
    assert move(person, run, image=NEW).status_code == 200
    run.refresh_from_db()
    assert (run.image, run.runtime, run.move_image) == (OLD, built, NEW)
    note_exit(rank.attempt_id, ExitReport("exited", exit_code), {"no_more": True})
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.cluster) == (
        states.FAILED if exit_code else states.SUCCEEDED,
        worlds[0].cluster,
    )
    assert (run.image, run.runtime) == (OLD, built)
    assert (run.moving_since, run.move_image, run.move_runtime) == (None, "", None)


def test_image_and_environment_change_when_the_run_moves_and_not_before(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    built = ensure_runtime_in(worlds[0].cluster, OLD, "numpy", run.project)
    Runtime.objects.filter(pk=built.pk).update(state=states.READY, archive_key="environments/a")
    Run.objects.filter(pk=run.pk).update(image=OLD, runtime=built)
    _, rank = start(worlds[0], run)
    move(person, run, image=NEW)
    # A second wish names only the cluster: the image of the first one stays.
    move(person, run, "east")
    move(person, run)
    run.refresh_from_db()
    assert (run.image, run.runtime) == (OLD, built)
    note_exit(rank.attempt_id, ExitReport("cancelled", 0), {"outputs_failed": [], "no_more": True})
    next_attempt(run)
    assert run.image == NEW
    assert run.runtime is not None
    assert (run.runtime.image, run.runtime.requirements) == (NEW, built.requirements)
    assert run.runtime.cluster == worlds[1].cluster
    assert (run.moving_since, run.move_image, run.move_runtime) == (None, "", None)


def test_a_cancelled_move_is_a_cancelled_run(
    run: Run, worlds: tuple[World, World], person: APIClient
) -> None:
    _, rank = start(worlds[0], run)
    move(person, run)
    person.post(f"/api/v1/runs/{run.pk}/cancel/")
    note_exit(rank.attempt_id, ExitReport("cancelled", 0), {"no_more": True})
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert run.state == states.CANCELLED


@pytest.mark.parametrize(
    ("change", "cluster", "status", "code"),
    [
        ({"state": states.SUCCEEDED}, "west", 409, "not_movable"),
        ({"state": states.FINALIZING}, "west", 409, "not_movable"),
        ({"cluster": None}, "west", 409, "not_movable"),
        ({"cancel_requested_at": "now", "state": states.QUEUED}, "west", 409, "not_movable"),
        ({}, "east", 400, "invalid_run"),
        ({}, "local", 400, "invalid_run"),
        # No machine of Atom's own has so much: that is not why it does not move there.
        ({"cpus": 10_000}, "local", 400, "invalid_run"),
        ({"cpus": 10_000}, "east", 400, "invalid_run"),
        ({}, "nowhere", 400, "invalid_run"),
        ({"cpus": 10_000}, "west", 400, "resources_never_fit"),
    ],
)
def test_a_move_that_cannot_be_is_refused_and_changes_nothing(
    run: Run, person: APIClient, change: dict[str, Any], cluster: str, status: int, code: str
) -> None:
    if "cancel_requested_at" in change:
        change = {**change, "cancel_requested_at": clock.now()}
    Run.objects.filter(pk=run.pk).update(**change)
    before = Run.objects.values().get(pk=run.pk)
    answer = move(person, run, cluster)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert Run.objects.values().get(pk=run.pk) == before


def test_a_move_by_a_reader_or_of_a_foreign_run_is_refused(run: Run, project: Project) -> None:
    reader, stranger = APIClient(), APIClient()
    reader.force_authenticate(make_member(project))
    stranger.force_authenticate(make_user("stranger"))
    assert move(reader, run).status_code == 403
    assert move(stranger, run).status_code == 404
