"""Pods that claim to be others, and reviews of their tokens that lie: none of them starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Attempt, Placement, Run
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]


@pytest.fixture
def other(db: None, world: World) -> Iterator[World]:
    """Another registered cluster."""
    with StandIn(tls=True) as stand_in:
        stand_in.nodes.add("n1")
        yield World(stand_in, "west")


def test_a_pod_of_another_cluster_is_refused(
    placement: Placement, project: Project, world: World, other: World
) -> None:
    there = other.submit(make_run(project, cluster=other.cluster, state=states.QUEUED))
    own, strange = world.pod(placement), other.pod(there)
    # Its own placement with the token of another cluster, and the other way round.
    assert world.join(placement, own, token=other.token(strange)).status_code == 401
    assert world.join(there, own, token=world.token(own)).status_code == 401
    assert world.join(there, strange, token=world.token(own)).status_code == 401
    assert world.join(placement, own).json()["answer"] == "start"


def test_a_pod_of_another_project_is_refused(placement: Placement, world: World) -> None:
    run = make_run(make_project("audio"), cluster=world.cluster, state=states.QUEUED)
    there = world.submit(run)
    pod = world.pod(there)
    assert world.join(placement, pod).status_code == 401
    same_names = {key: world.pod(placement)["metadata"][key] for key in ("name", "uid")}
    claim = {"pod": same_names["name"], "pod_uid": same_names["uid"], "token": world.token(pod)}
    assert world.join(placement, pod, **claim).status_code == 401


def test_a_pod_whose_attempt_is_over_does_not_become_the_next(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    assert world.join(placement, pod).json()["answer"] == "start"
    Placement.objects.filter(pk=placement.pk).update(ended_at=clock.now())
    Attempt.objects.filter(run=run).update(state=states.FAILED, finished_at=clock.now())
    Run.objects.filter(pk=run.pk).update(state=states.QUEUED)
    world.submit(run)
    assert world.join(placement, pod).json()["answer"] == "stop"


@pytest.mark.parametrize(
    "claim",
    [
        {"pod": "a" * (1 << 20)},
        {"pod": "a\0b"},
        {"pod_uid": "a" * (1 << 20)},
        {"rank": 1 << 70},
        {"rank": -1},
        {"token": "t" * 10_000},
    ],
)
def test_claims_of_another_form_are_refused_before_the_cluster_is_asked(
    placement: Placement, world: World, claim: Json
) -> None:
    world.stand_in.faults.refuse(100, code=500)
    assert world.join(placement, world.pod(placement), **claim).status_code in {400, 401}
