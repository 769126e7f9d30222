"""A run becomes one Job; its pods start only as its cluster says, and one at a time."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.core.crypto import repeatable_secret
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.attempts.actions.attempts import find_by_token
from atom.jobs.event_kinds import EventKind
from atom.jobs.executors.kubernetes import removal
from atom.jobs.executors.kubernetes.orders import order_of
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.executors.kubernetes.submission import submit_job
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import Artifact, Placement, Run
from atom.jobs.runs.actions.runs import cancel_run
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db


def test_a_run_becomes_one_job_however_often_it_is_asked_for(
    run: Run, placement: Placement, world: World
) -> None:
    first = placement.job_uid
    Placement.objects.filter(pk=placement.pk).update(job_uid="")
    again = world.submit(run)
    assert first
    assert again.job_uid == first


def test_the_pod_gets_the_job_and_a_token_of_its_attempt(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    answer = world.join(placement, pod)
    assert answer.status_code == 200, answer.content
    assert answer.json()["answer"] == "start"
    assert answer.json()["job"]["command"] == ["true"]
    rank = find_by_token(answer.json()["token"])
    assert rank is not None
    assert rank.attempt.run_id == run.pk
    assert rank.identity["pod_uid"] == pod["metadata"]["uid"]


def test_an_attempt_names_the_checkpoint_that_its_pod_goes_on_from(
    run: Run, placement: Placement, world: World
) -> None:
    """The pod starts long after its attempt was made; a checkpoint became durable meanwhile."""
    attempt = run.attempts.get()
    assert attempt.resumed_from_step is None
    Artifact.objects.create(
        **{"run": run, "attempt": attempt, "path": "step-00000040/state.txt", "size_bytes": 1},
        **{"sha256": "0" * 64, "kind": "checkpoint", "step": 40, "state": states.PERSISTED},
        key="somewhere",
    )
    answer = world.join(placement, world.pod(placement)).json()
    assert answer["job"]["resume"]["step"] == 40
    attempt.refresh_from_db()
    assert attempt.resumed_from_step == 40
    told = run.events.filter(kind=EventKind.RESUMES)
    assert [event.data["step"] for event in told] == [40]


def test_the_objects_of_a_run_hold_no_token_and_no_secret(
    placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    assert "atomrun_" not in str(pod)


@pytest.mark.parametrize(
    "claim", [{"rank": 1}, {"pod_uid": "another"}, {"pod": "another"}, {"token": "made-up"}]
)
def test_a_pod_that_claims_to_be_another_is_refused(
    placement: Placement, world: World, claim: dict[str, Any]
) -> None:
    answer = world.join(placement, world.pod(placement), **claim)
    assert answer.status_code == 401
    assert answer.json()["code"] == "rank_not_accepted"


def test_a_token_for_another_audience_is_refused(placement: Placement, world: World) -> None:
    pod = world.pod(placement)
    other = world.token(pod, "https://kubernetes.default.svc")
    assert world.join(placement, pod, token=other).status_code == 401


def test_a_pod_of_another_run_is_refused(
    placement: Placement, project: Project, world: World
) -> None:
    other = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    assert world.join(placement, world.pod(other)).status_code == 401


def test_a_second_pod_waits_until_the_cluster_says_that_the_first_is_gone(
    run: Run, placement: Placement, world: World
) -> None:
    first = world.pod(placement)
    token = world.join(placement, first).json()["token"]
    second = world.twin(first)
    answer = world.join(placement, second).json()
    assert (answer["answer"], answer["after_s"]) == ("again", 10)
    assert find_by_token(token) is not None
    world.remove(first)
    assert world.join(placement, second).json()["answer"] == "again"
    reconcile.advance(run.pk)
    assert find_by_token(token) is None
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    world.submit(run)
    assert world.join(placement, second).json()["answer"] == "start"
    assert [one.failure_class for one in run.attempts.order_by("number")] == ["PREEMPTED", ""]


def test_a_pod_that_asks_twice_keeps_the_token_of_its_first_answer(
    placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    # A request that timed out may be served after the one that followed it.
    tokens = [world.join(placement, pod).json()["token"] for _ in range(2)]
    assert tokens[0] == tokens[1]
    rank = find_by_token(tokens[0])
    assert rank is not None
    other = repeatable_secret("jobs.ranks", str(rank.attempt_id), "0", "another pod")
    assert find_by_token(f"atomrun_{other}") is None


def test_a_job_that_came_after_its_placement_had_ended_is_removed_too(
    placement: Placement, world: World
) -> None:
    Placement.objects.filter(pk=placement.pk).update(job_uid="", ended_at=clock.now())
    assert remove_ended() == 1
    attempt = placement.attempts.select_related("run__project").get()
    order = order_of(attempt, placement)
    placement.refresh_from_db()
    with open_cluster(world.cluster) as api:
        submit_job(api, placement, order)
    assert remove_ended() == 1
    assert world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name) is None


def test_a_preempted_run_that_was_cancelled_leaves_no_open_placement(
    run: Run, placement: Placement, world: World
) -> None:
    world.join(placement, world.pod(placement))
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
    report = ExitReport("preempted", None, 15)
    attempts.note_exit(placement.attempts.get().pk, report, {"no_more": True})
    assert reconcile.advance(run.pk) in states.TERMINAL
    placement.refresh_from_db()
    assert placement.ended_at is not None


def test_a_run_that_is_cancelled_between_two_attempts_leaves_no_job(
    run: Run, placement: Placement, world: World
) -> None:
    world.join(placement, world.pod(placement))
    report = ExitReport("preempted", None, 15)
    attempts.note_exit(placement.attempts.get().pk, report, {"no_more": True})
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    cancel_run(run.pk, make_user("ann"))
    assert remove_ended() == 1
    assert not world.stand_in.store.objects("jobs.batch")


def test_a_cancelled_run_tells_its_pod_to_stop(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
    assert reconcile.advance(run.pk) == states.CANCELLED
    assert world.join(placement, pod).json()["answer"] == "stop"


def test_ended_jobs_go_over_one_connection_for_each_cluster(
    project: Project, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def connect(cluster: Cluster) -> ClusterConnection:
        opened.append(cluster.name)
        return open_cluster(cluster)

    for _ in range(3):
        world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    Placement.objects.update(ended_at=clock.now())
    monkeypatch.setattr(removal, "open_cluster", connect)
    assert remove_ended() == 3
    assert opened == ["east"]
    assert not world.stand_in.store.objects("jobs.batch")


def test_a_cluster_that_fails_keeps_its_ended_jobs_for_later(
    placement: Placement, world: World
) -> None:
    Placement.objects.update(ended_at=clock.now())
    world.stand_in.faults.refuse(1, code=500, method="DELETE")
    assert remove_ended() == 0
    assert remove_ended() == 1
