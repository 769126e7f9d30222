"""The server's side of volumes: it answers for pods of runs, and for their own inputs."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.models import CacheRecord, NodeAgent, NodeVolume, WarmPlan
from atom.clusters.registration.actions.registering import check_now
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.executors.kubernetes.engines.manifests import digest_of, job_of
from atom.jobs.executors.kubernetes.orders import order_of
from atom.jobs.models import Placement, Run, RunEvent, RunInput
from tests.cache.agents.world import AgentWorld, JoinedAgent
from tests.factories.accounts import make_project
from tests.factories.datasets import make_dataset, make_version, stored_version
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
FILES = {"a.txt": b"a", "b.txt": b"b"}


@pytest.fixture
def version(project: Project) -> Version:
    return stored_version(project, FILES)


@pytest.fixture
def agents(world: World) -> AgentWorld:
    world.stand_in.nodes.add("n2")
    check_now(world.cluster)
    return AgentWorld(world.stand_in, cluster=world.cluster)


@pytest.fixture
def agent(agents: AgentWorld) -> JoinedAgent:
    agent = agents.joined("n1")
    agent.report(packs={})
    return agent


@pytest.fixture
def run(project: Project, world: World, version: Version) -> Run:
    run = make_run(project, cluster=world.cluster, state=states.QUEUED, command=["true"])
    RunInput.objects.create(run=run, alias="digits", version=version, delivery="stream")
    return run


@pytest.fixture
def pod(world: World, run: Run) -> Json:
    """Return the pod of the run, on the node n1."""
    pod = world.pod(world.submit(run))
    world.bind(pod)
    return pod


def claim_of(pod: Json, version: Version, /, **changes: Any) -> Json:
    metadata = pod["metadata"]
    return {
        "volume": "csi-1",
        "version": str(version.pk),
        "input": "digits",
        "mode": "packs",
        "namespace": metadata["namespace"],
        "pod": metadata["name"],
        "pod_uid": metadata["uid"],
        **changes,
    }


def held(agent: JoinedAgent, *volumes: str, is_registered: bool = True) -> None:
    body = {"volumes": [*volumes], "is_registered": is_registered}
    assert agent.post("volumes/held", body).status_code == 200


def test_a_pod_gets_the_packs_of_its_input_and_the_missing_ones_are_fetched(
    agent: JoinedAgent, pod: Json, version: Version
) -> None:
    answer = agent.post("volumes", claim_of(pod, version))
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert (body["project"], body["problem"]) == (str(version.dataset.project_id), "")
    assert body["reference"] == f"digits@{version.ref}"
    row = NodeVolume.objects.get()
    assert (row.packs_total, row.packs_present) == (len(body["packs"]), 0)
    plan = WarmPlan.objects.get()
    assert row.plan == plan
    assert [part.node.name for part in plan.parts.all()] == ["n1"]
    agent.post("volumes", claim_of(pod, version))
    agent.post("volumes", claim_of(pod, version, volume="csi-2"))
    assert WarmPlan.objects.count() == 1
    assert NodeVolume.objects.count() == 2
    assert CacheRecord.objects.get().used_at is not None
    events = RunEvent.objects.filter(kind="volume").order_by("pk")
    assert [event.text for event in events] == [
        f"digits@{version.ref} is a volume on n1, which has 0 of its {row.packs_total} packs."
    ] * 2
    held(agent, "csi-1")
    assert WarmPlan.objects.get().state == "running"
    held(agent)
    assert WarmPlan.objects.get().state == "cancelled"
    assert not NodeVolume.objects.exists()


def test_packs_that_are_there_are_counted_and_need_no_plan(
    agent: JoinedAgent, pod: Json, version: Version
) -> None:
    packs = agent.post("volumes", claim_of(pod, version)).json()["packs"]
    held(agent)
    agent.report(packs={str(version.dataset.project_id): packs})
    agent.post("volumes", claim_of(pod, version))
    row = NodeVolume.objects.get()
    assert (row.packs_present, row.plan) == (len(packs), None)
    assert row.bytes_present == row.bytes_total > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"version": str(uuid.uuid4())},
        {"input": "other"},
        {"namespace": "kube-system"},
        {"namespace": "atom-runs-audio"},
        {"pod": "another"},
        {"pod_uid": str(uuid.uuid4())},
    ],
)
def test_a_claim_to_be_another_is_refused(
    agent: JoinedAgent, pod: Json, version: Version, changes: Json
) -> None:
    answer = agent.post("volumes", claim_of(pod, version, **changes))
    assert (answer.status_code, answer.json()["code"]) == (403, "volume_refused")
    assert not NodeVolume.objects.exists()


def test_a_version_of_another_project_is_refused(
    agent: JoinedAgent, pod: Json, world: World, run: Run
) -> None:
    foreign = make_version(make_dataset(make_project("audio"), "digits"), {"c.txt": None})
    assert agent.post("volumes", claim_of(pod, foreign)).status_code == 403
    # The other project has a run with it in the same cluster.
    other = make_run(foreign.dataset.project, cluster=world.cluster, state=states.QUEUED)
    RunInput.objects.create(run=other, alias="digits", version=foreign, delivery="stream")
    there = world.pod(world.submit(other))
    assert agent.post("volumes", claim_of(pod, foreign)).status_code == 403
    names = {"namespace": there["metadata"]["namespace"]}
    assert agent.post("volumes", claim_of(pod, foreign, **names)).status_code == 403
    # Not even a row that names it opens a foreign version.
    RunInput.objects.filter(run=run).update(version=foreign)
    assert agent.post("volumes", claim_of(pod, foreign)).status_code == 403


def test_a_pod_of_another_node_or_of_no_run_is_refused(
    agent: JoinedAgent, agents: AgentWorld, pod: Json, world: World, version: Version
) -> None:
    elsewhere = agents.joined("n2")
    assert elsewhere.post("volumes", claim_of(pod, version)).status_code == 403
    metadata = pod["metadata"]
    body = {
        "metadata": {"name": "forged", "labels": metadata["labels"]},
        "spec": {**pod["spec"], "nodeName": "n1"},
    }
    forged = world.stand_in.create("pods.", body, metadata["namespace"])
    assert agent.post("volumes", claim_of(forged, version)).status_code == 403
    Placement.objects.update(ended_at=clock.now())
    assert agent.post("volumes", claim_of(pod, version)).status_code == 403


@pytest.mark.parametrize(
    "changes",
    [
        {"volume": "../x"},
        {"volume": "x" * 200},
        {"version": "v1"},
        {"mode": "write"},
        {"unknown": 1},
        {"namespace": "x" * 300},
    ],
)
def test_a_strange_claim_is_refused(
    agent: JoinedAgent, pod: Json, version: Version, changes: Json
) -> None:
    answer = agent.post("volumes", claim_of(pod, version, **changes))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_the_index_is_for_the_node_that_has_the_volume(
    agent: JoinedAgent, agents: AgentWorld, pod: Json, version: Version
) -> None:
    agent.post("volumes", claim_of(pod, version, mode="view"))
    address = "/api/v1/agent/volumes/csi-1/index/"
    own = APIClient().get(address, headers={"Authorization": f"Bearer {agent.token}"})
    assert bytes_of(own).startswith(b"ARROW1")
    other = agents.joined("n2")
    answer = APIClient().get(address, headers={"Authorization": f"Bearer {other.token}"})
    assert (answer.status_code, answer.json()["code"]) == (404, "volume_unknown")
    assert APIClient().get(address).status_code == 401


def test_the_pods_of_a_run_get_volumes_where_every_node_has_the_driver(
    agents: AgentWorld, agent: JoinedAgent, world: World, run: Run, project: Project
) -> None:
    held(agent)
    assert not world.submit(run).has_volumes
    other = agents.joined("n2")
    other.report(packs={})
    held(other)
    second = make_run(project, cluster=world.cluster, state=states.QUEUED, command=["true"])
    source = run.inputs.get()
    RunInput.objects.create(run=second, alias="b", version=source.version, delivery="stream")
    placement = world.submit(second)
    assert placement.has_volumes
    # A driver that goes later does not change what the placement asks for.
    NodeAgent.objects.update(has_volumes=False)
    attempt = second.attempts.select_related("run__project").get()
    spec = job_of(order_of(attempt, placement))["spec"]
    assert digest_of(spec) == placement.spec_sha256
    pod = spec["template"]["spec"]
    (volume,) = [row for row in pod["volumes"] if "csi" in row]
    assert volume["csi"] == {
        "driver": "csi.atom.dev",
        "readOnly": True,
        "volumeAttributes": {"version": str(source.version_id), "input": "b", "mode": "packs"},
    }
    (mount,) = [row for row in pod["containers"][0]["volumeMounts"] if row["name"] == "input-0"]
    assert mount == {"name": "input-0", "mountPath": "/atom/volumes/input-0", "readOnly": True}
    answer = world.join(placement, world.pod(placement)).json()
    assert answer["job"]["datasets"][0]["volume"] == "/atom/volumes/input-0"


def test_a_driver_is_unknown_until_a_new_pod_of_the_agent_says_otherwise(
    agents: AgentWorld, agent: JoinedAgent
) -> None:
    held(agent)
    assert NodeAgent.objects.get().has_volumes
    again = agents.joined("n1", pod="second")
    assert not NodeAgent.objects.get().has_volumes
    held(again, is_registered=False)
    assert not NodeAgent.objects.get().has_volumes
