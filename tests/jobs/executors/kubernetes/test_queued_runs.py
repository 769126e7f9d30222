"""Runs that a queue of Kueue admits: their objects, their waits, and what may go wrong."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from atom.clusters.models import Cluster
from atom.jobs import reconcile, states
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.models import Attempt, Placement, Run
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import AnswerCode
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run
from tests.fakes.contract.transcripts import FOLDER
from tests.jobs.executors.kubernetes.played_runs import PlayedRun
from tests.jobs.executors.kubernetes.queues import QUEUE, use_queue
from tests.jobs.executors.kubernetes.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here"),
]

Json = dict[str, Any]
LOCAL_QUEUES = "localqueues.kueue.x-k8s.io"
WEBHOOK_DOWN = (
    'Internal error occurred: failed calling webhook "mjob.kb.io": failed to call webhook: Post '
    '"https://127.0.0.1:9443/mutate-batch-v1-job?timeout=10s": connect: connection refused'
)


def queued(project: Project, world: World, **more: Any) -> Run:
    asked = {"cluster": world.cluster, "state": states.QUEUED, "command": ["true"], **more}
    return make_run(project, **{"max_retries": 0, **asked})


def job_of(world: World, placement: Placement) -> Json:
    job = world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name)
    assert job is not None
    return job


def local_queues(world: World) -> list[Json]:
    return list(world.stand_in.store.objects(LOCAL_QUEUES))


def observe(placement: Placement, **spec: Any) -> None:
    """Let the watcher have seen the Job with these parts."""
    placement.refresh_from_db()
    observed = placement.observed
    observed["job"]["spec"] |= spec
    Placement.objects.filter(pk=placement.pk).update(observed=observed)


def test_a_job_names_its_queue_and_is_suspended(kueue_world: World, project: Project) -> None:
    use_queue(kueue_world, local_queue="runs")
    placement = kueue_world.submit(queued(project, kueue_world))
    job = job_of(kueue_world, placement)
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"][names.QUEUE] == "runs"
    assert names.GATES not in job["metadata"]["annotations"]
    template = job["spec"]["template"]["metadata"]["labels"]
    assert names.QUEUE not in template
    (queue,) = local_queues(kueue_world)
    assert (queue["metadata"]["name"], queue["metadata"]["namespace"]) == (
        "runs",
        placement.namespace,
    )
    assert queue["spec"]["clusterQueue"] == QUEUE
    assert queue["metadata"]["labels"][names.PROJECT] == "vision"
    # Each project has a LocalQueue of its own; a second run changes none.
    kueue_world.submit(queued(project, kueue_world))
    kueue_world.submit(queued(make_project("audio"), kueue_world))
    assert len(local_queues(kueue_world)) == 2


def test_without_a_queue_nothing_changes(kueue_world: World, project: Project) -> None:
    job = job_of(kueue_world, kueue_world.submit(queued(project, kueue_world)))
    assert not job["spec"].get("suspend")
    assert names.QUEUE not in job["metadata"]["labels"]
    assert local_queues(kueue_world) == []


QUEUED = "1 queued kueue_pending"
# Scenario/Job and nodes: attempt, phase and wait in their order; the ends of all attempts.
PLAYED: dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("kueue-admitted/at-1", 1): (("1 running -", "1 ended -"), ("",)),
    ("kueue-waiting-for-quota/second", 1): (
        ("1 queued kueue_quota", "1 admitted pods_to_be_created"),
        ("",),
    ),
    # The LocalQueue leads to a ClusterQueue that is not there.
    ("kueue-job-without-queue/lost", 1): (("1 queued kueue_misconfigured",), ("",)),
    ("kueue-undeclared-resource/undeclared", 1): (("1 queued kueue_pending",), ("",)),
    ("kueue-borrow-and-reclaim/a2", 1): (
        (
            QUEUED,
            "1 running -",
            "1 stopping kueue_preempted",
            "1 queued kueue_quota",
            "2 queued kueue_quota",
            "2 running -",
            "2 ended -",
        ),
        ("PREEMPTED", ""),
    ),
    # A gang: both ranks are admitted at once, preempted together, and resumed in the same Job.
    ("kueue-borrow-and-reclaim/a2", 2): (
        (
            QUEUED,
            "1 running -",
            "1 stopping kueue_preempted",
            "1 queued kueue_quota",
            "2 queued kueue_quota",
            "2 running -",
            "2 ended -",
        ),
        ("PREEMPTED", ""),
    ),
}


@pytest.mark.parametrize(("story", "nodes"), PLAYED)
def test_a_queued_run_goes_as_its_queue_decides(
    story: str, nodes: int, kueue_world: World, project: Project
) -> None:
    use_queue(kueue_world)
    seen, ends = PLAYED[story, nodes]
    scenario, _, job = story.partition("/")
    played = PlayedRun.submit(kueue_world, project, nodes)
    assert tuple(played.go(scenario, job)) == seen
    assert tuple(played.ends) == ends
    assert played.run.placements.count() == 1


def test_a_run_waits_while_the_webhook_of_kueue_is_down(
    kueue_world: World, project: Project
) -> None:
    use_queue(kueue_world)
    run = queued(project, kueue_world)
    kueue_world.stand_in.faults.refuse(
        1, code=500, method="POST", path="/jobs$", message=WEBHOOK_DOWN
    )
    placement = kueue_world.submit(run)
    assert placement.job_uid == ""
    run.refresh_from_db()
    assert run.state == states.SUBMITTED
    waits = explain(run)
    assert waits.code is AnswerCode.JOB_NOT_TAKEN
    assert "failed calling webhook" in waits.reasons[0].text
    assert waits.reasons[0].params["sentence"]["code"] == "clusters.answer_status"
    kueue_world.submit_again(run.attempts.get())
    placement.refresh_from_db()
    assert placement.job_uid
    assert placement.problem == ""
    assert explain(run).code is not AnswerCode.JOB_NOT_TAKEN


@pytest.mark.parametrize("is_served", [True, False])
def test_no_job_is_made_where_nothing_would_admit_it(
    kueue_world: World, project: Project, is_served: bool
) -> None:
    use_queue(kueue_world)
    if is_served:
        # The last check still saw Kueue; its definitions are gone since.
        kueue_world.stand_in.faults.refuse(
            1, code=404, method="PATCH", path="/localqueues/", message="not found"
        )
    else:
        Cluster.objects.filter(pk=kueue_world.cluster.pk).update(facts={})
    run = queued(project, kueue_world)
    placement = kueue_world.submit(run)
    assert placement.job_uid == ""
    assert not kueue_world.stand_in.store.objects("jobs.batch")
    run.refresh_from_db()
    assert explain(run).reasons[0].params["sentence"]["code"] == "jobs.kueue_away"


def test_a_queue_that_lost_a_resource_is_named_while_the_run_waits(
    kueue_world: World, project: Project
) -> None:
    use_queue(kueue_world)
    run = queued(project, kueue_world, gpus=1)
    kueue_world.submit(run)
    kueue_world.sync()
    row = Cluster.objects.get(pk=kueue_world.cluster.pk)
    row.facts["queues"]["cluster_queues"][QUEUE]["covered"] = ["cpu", "memory"]
    row.save(update_fields=["facts"])
    waits = explain(Run.objects.get(pk=run.pk))
    codes = [reason.params["sentence"]["code"] for reason in waits.reasons]
    assert "clusters.queue_uncovered" in codes


def test_a_local_queue_that_leads_elsewhere_is_left_alone(
    kueue_world: World, project: Project
) -> None:
    use_queue(kueue_world)
    run = queued(project, kueue_world)
    first = kueue_world.submit(queued(project, kueue_world))
    store = kueue_world.stand_in.store
    (queue,) = local_queues(kueue_world)
    other = {**queue, "spec": {**queue["spec"], "clusterQueue": "team-b"}}
    store.put(LOCAL_QUEUES, (first.namespace, queue["metadata"]["name"]), other)
    reconcile.advance(run.pk)
    kueue_world.submit_again(run.attempts.get())
    assert run.placements.get().job_uid == ""
    attempt = run.attempts.get()
    assert "leads to the ClusterQueue team-b and not to team-a" in attempt.failure_reason
    (queue,) = local_queues(kueue_world)
    assert queue["spec"]["clusterQueue"] == "team-b"


def test_gangs_in_a_queue_wait_for_no_turn(kueue_world: World, project: Project) -> None:
    use_queue(kueue_world)
    first, second = (queued(project, kueue_world, nodes=2) for _ in range(2))
    kueue_world.submit(first)
    placement = kueue_world.submit(second)
    assert placement.job_uid
    # One that its queue has admitted holds up none of the queue either.
    kueue_world.sync()
    observe(first.placements.get(), suspend=False)
    third = queued(project, kueue_world, nodes=2)
    assert kueue_world.submit(third).job_uid


def test_an_admitted_gang_that_does_not_form_gives_its_nodes_back(
    kueue_world: World, project: Project, settings: Any
) -> None:
    settings.ATOM_GANG_FORMING_S = 0
    use_queue(kueue_world)
    run = queued(project, kueue_world, nodes=2)
    placement = kueue_world.submit(run)
    assert kueue_world.tick(run) == states.SUBMITTED
    job = job_of(kueue_world, placement)
    admitted = {**job, "spec": {**job["spec"], "suspend": False}}
    admitted["status"] = {"startTime": kueue_world.stand_in.store.now()}
    kueue_world.stand_in.store.put(
        "jobs.batch", (placement.namespace, placement.job_name), admitted
    )
    kueue_world.tick(run)
    kueue_world.tick(run)
    attempt = run.attempts.get()
    assert attempt.failure_class == "GANG_INCOMPLETE"
    placement.refresh_from_db()
    assert placement.ended_at is not None
    # Its next turn is a new Job in the queue.
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    assert kueue_world.submit(run).pk != placement.pk


def test_a_gang_that_is_suspended_before_it_formed_goes_on_in_its_job(
    kueue_world: World, project: Project
) -> None:
    use_queue(kueue_world)
    run = queued(project, kueue_world, nodes=2)
    placement = kueue_world.submit(run)
    kueue_world.sync()
    attempt: Attempt = run.attempts.get()
    # Rank 0 had its pod; then the Job was suspended, and the pod went.
    identity = {"pod": "p0", "pod_uid": "u0"}
    old = attempt.created_at.replace(year=2020)
    attempt.ranks.filter(number=0).update(identity=identity, heartbeat_at=old)
    placement.refresh_from_db()
    observed = {**placement.observed, "seen": ["u0"], "pods": []}
    Placement.objects.filter(pk=placement.pk).update(observed=observed, looked_at=None)
    for _ in range(3):
        reconcile.advance(run.pk)
    attempt.refresh_from_db()
    assert attempt.failure_class == "PREEMPTED"
    placement.refresh_from_db()
    assert placement.ended_at is None
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    assert kueue_world.submit(run).pk == placement.pk
    assert run.attempts.count() == 2
