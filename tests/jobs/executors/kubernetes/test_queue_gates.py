"""Runs that wait for their data in a queue of Kueue: gated, let through, cut off, given up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import NodeAgent
from atom.clusters.models import Node
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.attempts import end_attempt, lock
from atom.jobs.executors.base import REPLACED
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.failures.engines import failures
from atom.jobs.models import DataGate, Placement, Run, RunInput
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import AnswerCode
from atom.jobs.runs.actions.runs import cancel_run
from atom.jobs.scheduling.actions.cluster_capacities import capacity_of
from atom.jobs.scheduling.actions.gate_plans import bring_data
from atom.jobs.scheduling.actions.queue_gates import ungate
from tests.cache.agents.test_work import DISK, ended
from tests.cache.conftest import pusher  # noqa: F401
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.playback.player import Player
from tests.fakes.playback.recording import Change, changes, steps
from tests.jobs.executors.kubernetes.played_runs import PAUSE_S
from tests.jobs.executors.kubernetes.queues import use_queue
from tests.jobs.executors.kubernetes.world import World

pytestmark = [
    pytest.mark.django_db,
    # Before the cluster: the rows of the pushed version are kept for the next test.
    pytest.mark.usefixtures("pusher"),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here"),
]

Json = dict[str, Any]


@pytest.fixture
def agent(kueue_world: World) -> NodeAgent:
    """Return the agent of the cluster's node, which reports; runs use a queue that has gates."""
    kueue_world.sync()
    use_queue(kueue_world)
    now = clock.now()
    agent = NodeAgent.objects.create(
        node=Node.objects.get(cluster=kueue_world.cluster, name="n1"),
        address="http://10.0.0.1:7480", pod="a", pod_uid="a", token_hash="a",
        token_expires_at=now + timedelta(hours=1), joined_at=now,
    )  # fmt: skip
    note_report(agent, AgentReport(1, DISK, {}, [], []))
    agent.refresh_from_db()
    return agent


@pytest.fixture
def run(agent: NodeAgent, kueue_world: World) -> Run:
    """Return a run that waits for all of its data; it is queued."""
    version = Version.objects.select_related("dataset__project").get()
    asked: Json = {"start_when": "data_there", "command": ["true"], "max_retries": 0}
    user = make_user()
    run = make_run(version.dataset.project, user, cluster=kueue_world.cluster, **asked)
    RunInput.objects.create(run=run, alias="train", version=version, delivery="stream")
    return run


@pytest.fixture
def held(run: Run, kueue_world: World) -> Placement:
    """Return the run's placement: its Job is made, and its queue holds it back."""
    placement = kueue_world.submit(run)
    bring_data(run.attempts.get().pk)
    assert kueue_world.tick(run) == states.SUBMITTED
    placement.refresh_from_db()
    return placement


def job_of(world: World, placement: Placement) -> Json:
    job = world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name)
    assert job is not None
    return job


def gates_of(world: World, placement: Placement) -> str | None:
    found: str | None = job_of(world, placement)["metadata"]["annotations"].get(names.GATES)
    return found


def put_job(world: World, placement: Placement, job: Json) -> None:
    world.stand_in.store.put("jobs.batch", (placement.namespace, placement.job_name), job)


def fetch(agent: NodeAgent) -> None:
    fetches = work(agent, WorkReport(64))["fetches"]
    work(agent, WorkReport(0, done=[ended(fetch) for fetch in fetches]))


def asked(placement: Placement) -> bool:
    """Return whether a worker is to take the gate away."""
    placement.refresh_from_db()
    return placement.ungate_asked_at is not None


def test_the_job_is_there_at_once_and_its_queue_holds_it_back(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    assert gates_of(kueue_world, held) == "atom.dev/warmup"
    assert job_of(kueue_world, held)["spec"]["suspend"] is True
    waits = explain(Run.objects.get(pk=run.pk))
    assert waits.code is AnswerCode.WAITS_FOR_DATA
    assert waits.reasons[0].kind == "data_gate"
    # It takes the room of no other run meanwhile.
    assert capacity_of(kueue_world.cluster).unplaced == []
    assert not asked(held)
    ungate(held.pk)
    assert gates_of(kueue_world, held) == "atom.dev/warmup"

    fetch(agent)
    assert kueue_world.tick(run) == states.SUBMITTED
    assert asked(held)
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None
    held.refresh_from_db()
    assert held.ungated_at is not None
    job = job_of(kueue_world, held)
    assert job["metadata"]["uid"] == held.job_uid
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (preferred,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert "n1" in str(preferred["preference"])
    assert explain(Run.objects.get(pk=run.pk)).code is AnswerCode.CLUSTER_QUEUED
    assert len(capacity_of(kueue_world.cluster).unplaced) == 1


def is_before_the_removal(change: Change) -> bool:
    # The recorded gate was removed at 3.78 s.
    return change.t < 3.75


def is_after_the_removal(change: Change) -> bool:
    # Its pods, which were not recorded, end after 9.0 s.
    return 3.75 <= change.t < 9.0


def test_a_gated_run_keeps_its_place_as_recorded(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    found = changes("kueue", "kueue-admission-gated-by")
    player = Player(kueue_world.stand_in, found, held.namespace, {"g1": held.job_name})
    seen: list[str] = []

    def look() -> None:
        kueue_world.tick(run)
        explanation = explain(Run.objects.get(pk=run.pk))
        words = [explanation.code.value]
        words += [one.params["sentence"]["code"] for one in explanation.reasons
                  if one.kind == "cluster"]  # fmt: skip
        line = " ".join(words)
        if not seen or seen[-1] != line:
            seen.append(line)

    for group in steps([one for one in found if is_before_the_removal(one)], PAUSE_S):
        player.play(group)
        look()
    assert gates_of(kueue_world, held) == "atom.dev/warmup"
    fetch(agent)
    look()
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None
    for group in steps([one for one in found if is_after_the_removal(one)], PAUSE_S):
        player.play(group)
        look()
    assert seen == [
        "waits_for_data jobs.wait_kueue_gated",
        "cluster_queued jobs.wait_kueue_gated",
        "cluster_queued jobs.wait_kueue_quota",
        "cluster_admitted jobs.wait_pods_to_be_created",
    ]
    assert run.attempts.count() == 1
    held.refresh_from_db()
    assert held.ended_at is None


def test_the_removal_is_repeated_until_the_cluster_confirms_it(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    fetch(agent)
    faults = kueue_world.stand_in.faults
    # More often than a worker asks here.
    faults.refuse(9, code=500, method="PATCH", path="/jobs/", message="failed calling webhook")
    kueue_world.tick(run)
    assert asked(held)
    ungate(held.pk)
    held.refresh_from_db()
    assert held.ungated_at is None
    assert gates_of(kueue_world, held) == "atom.dev/warmup"
    # A moment later it is asked for again, by a look that comes with each tick.
    before = clock.now() - timedelta(minutes=1)
    Placement.objects.filter(pk=held.pk).update(ungate_asked_at=before)
    kueue_world.tick(run)
    held.refresh_from_db()
    assert held.ungate_asked_at is not None
    assert held.ungate_asked_at > before
    # The cluster does it, and its answer is lost; then a worker does it once more.
    faults.stop()
    faults.lose_response(1, method="PATCH", path="/jobs/")
    ungate(held.pk)
    held.refresh_from_db()
    assert held.ungated_at is None
    ungate(held.pk)
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None
    held.refresh_from_db()
    assert held.ungated_at is not None
    kueue_world.tick(run)
    assert Placement.objects.get(pk=held.pk).looked_at is not None


def test_gates_of_others_stay(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    job = job_of(kueue_world, held)
    job["metadata"]["annotations"][names.GATES] = "acme.io/audit, atom.dev/warmup"
    put_job(kueue_world, held, job)
    fetch(agent)
    # Somebody writes to the Job between reading and writing.
    faults = kueue_world.stand_in.faults
    faults.refuse(1, code=409, method="PATCH", path="/jobs/", message="the object was modified")
    kueue_world.tick(run)
    ungate(held.pk)
    assert faults.clear_rules() == 1
    assert gates_of(kueue_world, held) == "acme.io/audit"


def test_a_job_that_is_gone_has_no_gate_to_remove(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    kueue_world.stand_in.store.remove("jobs.batch", (held.namespace, held.job_name))
    fetch(agent)
    DataGate.objects.update(opened_at=clock.now())
    ungate(held.pk)
    held.refresh_from_db()
    assert held.ungated_at is not None


def test_a_cancelled_run_takes_its_gated_job_with_it(
    kueue_world: World, run: Run, held: Placement
) -> None:
    cancel_run(run.pk, make_user())
    for _ in range(3):
        kueue_world.tick(run)
    run.refresh_from_db()
    assert run.state == states.CANCELLED
    ungate(held.pk)
    assert gates_of(kueue_world, held) == "atom.dev/warmup"
    assert remove_ended() == 1
    assert not list(kueue_world.stand_in.store.objects("jobs.batch"))


def test_a_run_whose_data_does_not_come_is_let_through_and_streams(
    kueue_world: World, agent: NodeAgent, run: Run, held: Placement
) -> None:
    NodeAgent.objects.update(reported_at=clock.now() - timedelta(minutes=2))
    kueue_world.tick(run)
    bring_data(run.attempts.get().pk)
    kueue_world.tick(run)
    gate = DataGate.objects.get()
    assert gate.opened_at is not None
    assert gate.notice.code == "jobs.gate_too_few_nodes"
    assert asked(held)
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None


def test_a_run_whose_data_is_lost_fails_with_its_job(
    kueue_world: World, run: Run, held: Placement
) -> None:
    DataGate.objects.update(is_lost=True)
    for _ in range(3):
        kueue_world.tick(run)
    run.refresh_from_db()
    assert (run.state, run.failure_class) == (states.FAILED, "DATA_WARMUP")
    held.refresh_from_db()
    assert held.ended_at is not None


def test_the_next_attempt_in_the_same_job_waits_for_nothing(
    kueue_world: World, run: Run, held: Placement
) -> None:
    run_now, attempt = lock(run.attempts.get().pk)
    evidence = {"reason": REPLACED, "no_more": True}
    end_attempt(run_now, attempt, failures.preempted(), evidence)
    reconcile.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    kueue_world.submit(run)
    kueue_world.tick(run)
    assert run.attempts.count() == 2
    assert asked(held)
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None


def test_a_queue_that_admits_it_all_the_same_lets_it_stream(
    kueue_world: World, run: Run, held: Placement
) -> None:
    job = job_of(kueue_world, held)
    put_job(kueue_world, held, {**job, "spec": {**job["spec"], "suspend": False}})
    kueue_world.tick(run)
    gate = DataGate.objects.get()
    assert gate.opened_at is not None
    assert gate.notice.code == "jobs.gate_admitted_early"
    # Its template is fixed by now: only the gate goes.
    ungate(held.pk)
    assert gates_of(kueue_world, held) is None
    assert "affinity" not in job_of(kueue_world, held)["spec"]["template"]["spec"]


def test_a_queue_without_gates_gets_the_job_once_the_data_is_there(
    kueue_world: World, agent: NodeAgent, run: Run
) -> None:
    row = kueue_world.cluster
    row.facts["queues"]["gates"] = False
    row.save(update_fields=["facts"])
    reconcile.advance(run.pk)
    bring_data(run.attempts.get().pk)
    assert kueue_world.tick(run) == states.WARMING
    assert not list(kueue_world.stand_in.store.objects("jobs.batch"))
    fetch(agent)
    placement = kueue_world.submit(run)
    job = job_of(kueue_world, placement)
    assert job["spec"]["suspend"] is True
    assert names.GATES not in job["metadata"]["annotations"]
