"""Runs on several nodes: all ranks start together, end together, and give their nodes back."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.attempts import find_by_token
from atom.jobs.models import Placement, Run
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import AnswerCode
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db

Json = dict[str, Any]


def gang(project: Project, world: World, nodes: int = 2, **fields: Any) -> Run:
    asked = {"cluster": world.cluster, "state": states.QUEUED, "command": ["true"], **fields}
    return make_run(project, nodes=nodes, **asked)


def pods_of(world: World, placement: Placement, nodes: int = 2) -> list[Json]:
    """Return the pods of a placement by rank, once the Job's controller has made them all."""
    wait_for(lambda: len(world.pods(placement)) == nodes)
    found = world.pods(placement)
    return sorted(found, key=lambda pod: int(pod["metadata"]["annotations"][INDEX]))


INDEX = "batch.kubernetes.io/job-completion-index"


def ask(world: World, placement: Placement, pods: list[Json], rank: int) -> Json:
    answer: Json = world.join(placement, pods[rank], rank=rank).json()
    return answer


def test_no_rank_starts_before_all_are_there(project: Project, world: World) -> None:
    run = gang(project, world, nodes=3)
    placement = world.submit(run)
    pods = pods_of(world, placement, 3)
    assert ask(world, placement, pods, 0)["answer"] == "again"
    waiting = ask(world, placement, pods, 2)
    assert waiting["answer"] == "again"
    assert waiting["reason"] == "2 of 3 ranks are here. Still missing: 1."
    assert ask(world, placement, pods, 1)["answer"] == "start"
    answers = [ask(world, placement, pods, rank) for rank in (0, 1, 2)]
    assert [one["answer"] for one in answers] == ["start"] * 3
    ranks = [find_by_token(one["token"]) for one in answers]
    assert [rank.number if rank else None for rank in ranks] == [0, 1, 2]
    assert [one["job"]["env"]["RANK"] for one in answers] == ["0", "1", "2"]
    assert len({one["job"]["env"]["MASTER_ADDR"] for one in answers}) == 1
    assert len(answers[0]["job"]["ranks"]["table"]) == 3


def test_a_rank_that_asks_no_more_is_missing_again(project: Project, world: World) -> None:
    run = gang(project, world)
    placement = world.submit(run)
    pods = pods_of(world, placement)
    ask(world, placement, pods, 0)
    attempt = run.attempts.get()
    old = attempt.created_at.replace(year=2020)
    attempt.ranks.filter(number=0).update(heartbeat_at=old)
    assert ask(world, placement, pods, 1)["answer"] == "again"
    assert ask(world, placement, pods, 0)["answer"] == "start"


def test_one_gang_at_a_time_gets_its_nodes(project: Project, world: World) -> None:
    first, second, single = (
        gang(project, world),
        gang(make_project("other"), world),
        gang(project, world, nodes=1),
    )
    placement = world.submit(first)
    assert reconcile.advance(second.pk) == states.WARMING
    second.refresh_from_db()
    waits = explain(second)
    assert waits.code is AnswerCode.GANG_TURN
    assert [reason.kind for reason in waits.reasons] == ["gang"]
    # A run of one pod cannot hold a part of what it needs.
    assert world.submit(single).job_uid
    pods = pods_of(world, placement)
    for rank in (0, 1):
        ask(world, placement, pods, rank)
    assert reconcile.advance(second.pk) == states.SUBMITTED


def test_a_gang_of_a_suspended_job_takes_nobodys_turn(project: Project, world: World) -> None:
    first, second = gang(project, world), gang(project, world)
    placement = world.submit(first)
    world.sync()
    placement.refresh_from_db()
    observed = placement.observed
    observed["job"]["spec"]["suspend"] = True
    Placement.objects.filter(pk=placement.pk).update(observed=observed)
    assert reconcile.advance(second.pk) == states.SUBMITTED


def test_a_gang_that_gets_a_part_of_its_nodes_gives_them_back(
    project: Project, world: World, settings: Any
) -> None:
    first, second = gang(project, world, max_retries=0), gang(project, world)
    placement = world.submit(first)
    reconcile.advance(second.pk)
    pods = pods_of(world, placement)
    token_asked = ask(world, placement, pods, 0)
    assert token_asked["answer"] == "again"
    world.sync()
    waits = explain(Run.objects.get(pk=first.pk))
    assert waits.code is AnswerCode.GANG_FORMING
    assert waits.reasons[0].params["joined"] == 1
    settings.ATOM_GANG_FORMING_S = 0
    # It waits for its next turn, though it may not be retried after a failure of its own.
    wait_for(lambda: world.tick(first) == states.RETRY_WAIT)
    attempt = first.attempts.get()
    assert attempt.failure_class == "GANG_INCOMPLETE"
    # No command has started, so no log is missing.
    assert attempt.log_complete
    assert attempt.evidence["failure"]["params"]["joined"] == 1
    placement.refresh_from_db()
    assert placement.ended_at is not None
    assert ask(world, placement, pods, 1)["answer"] == "stop"
    assert reconcile.advance(second.pk) == states.SUBMITTED


def test_a_rank_that_vanishes_ends_the_attempt_of_all(project: Project, world: World) -> None:
    run = gang(project, world)
    placement = world.submit(run)
    pods = pods_of(world, placement)
    for rank in (0, 1, 0):
        answer = ask(world, placement, pods, rank)
    world.sync()
    world.stand_in.jobs.stop()
    world.remove(pods[1])
    attempt = run.attempts.get()
    old = attempt.created_at.replace(year=2020)
    attempt.ranks.filter(number=1).update(heartbeat_at=old)
    world.sync()
    reconcile.advance(run.pk)
    attempt.refresh_from_db()
    assert attempt.failure_class
    assert attempt.evidence["rank"] == 1
    beat = APIClient().post(
        "/api/v1/runner/heartbeat/", {}, headers={"Authorization": f"Bearer {answer['token']}"}
    )
    assert beat.json()["cancel"] is True


@pytest.mark.parametrize(
    ("asked", "field", "code"),
    [
        ({"nodes": 2}, "nodes", "jobs.nodes_without_cluster"),
        ({"launcher": "torchrun"}, "launcher", "jobs.launcher_on_one_node"),
        ({"nodes": 0}, "nodes", ""),
        ({"nodes": 257}, "nodes", ""),
        ({"launcher": "magic"}, "launcher", ""),
        ({"nodes": 3, "cluster": "east", "resources": {"gpus": 8}}, "nodes", "jobs.too_many_nodes"),
    ],
)
def test_what_cannot_run_on_several_nodes_is_refused_by_field(
    project: Project, world: World, api: APIClient, asked: Json, field: str, code: str
) -> None:
    body = {"command": ["true"], **asked}
    answer = api.post(f"/api/v1/projects/{project.slug}/runs/", body, format="json")
    assert answer.status_code == 400, answer.content
    assert field in answer.json()["errors"]
    if code:
        assert code in str(answer.json())


def test_choices_of_clusters_count_all_nodes(
    project: Project, world: World, api: APIClient
) -> None:
    address = f"/api/v1/projects/{project.slug}/cluster-choices/"
    one = api.get(address, {"gpus": 4, "nodes": 2}).json()["results"]
    assert [(choice["name"], choice["fits"]) for choice in one] == [
        ("local", "never"),
        ("east", "now"),
    ]
    many = api.get(address, {"gpus": 4, "nodes": 3}).json()["results"][1]
    assert (many["fits"], many["reason"]["code"]) == ("never", "jobs.too_many_nodes")
    assert many["reason"]["params"]["most"] == 2
