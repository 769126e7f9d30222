"""The parts of a profile in the pods of runs and builds; no profile adds a capability."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from atom.clusters.models import ClusterProfile
from atom.clusters.registration.actions.profiles import (
    ProfileSettings,
    RdmaResult,
    change_profile,
    note_rdma,
)
from atom.clusters.registration.engines.profiles import RdmaNeed
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.models import Run
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import ReasonKind
from atom_sdk.sentences import Sentence
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.security import offences
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
RESOURCE = "rdma/hca"
SETTINGS = ProfileSettings(
    priority_class="research",
    tolerations=[{"key": "team", "operator": "Equal", "value": "vision", "effect": ""}],
    rdma_resource=RESOURCE,
    rdma_count=2,
    nccl={"NCCL_IB_HCA": "mlx5", "NCCL_DEBUG": "WARN"},
)


@pytest.fixture
def tried(world: World) -> World:
    """A cluster whose profile wants RDMA, which a pod has proved."""
    with_profile(world)
    reason = Sentence("clusters.rdma_said", "{said}", said="It works.")
    assert note_rdma(world.cluster.pk, RdmaResult(RdmaNeed(RESOURCE, 2), True, reason))
    return world


def with_profile(world: World) -> None:
    body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
    world.stand_in.create(
        "priorityclasses.scheduling.k8s.io", body | {"metadata": {"name": "research"}}
    )
    change_profile(world.cluster, SETTINGS, make_user("chief", is_superuser=True))


def queued(project: Project, world: World, **more: Any) -> Run:
    actor = make_user()
    return make_run(project, actor, state=states.QUEUED, cluster=world.cluster, **more)


def spec_of(world: World, run: Run) -> Json:
    spec: Json = world.pod(world.submit(run))["spec"]
    return spec


def variables(spec: Json) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in spec["containers"][0]["env"]}


def test_a_run_with_accelerators_gets_all_that_the_profile_names(
    project: Project, tried: World
) -> None:
    spec = spec_of(tried, queued(project, tried, gpus=1))
    (main,) = spec["containers"]
    for part in ("requests", "limits"):
        assert main["resources"][part][RESOURCE] == "2"
        assert main["resources"][part]["nvidia.com/gpu"] == "1"
    assert (spec["priorityClassName"], spec["priority"]) == ("research", 1000)
    keys = [one["key"] for one in spec["tolerations"]]
    assert keys[:2] == ["nvidia.com/gpu", "team"]
    assert {"key": "team", "operator": "Equal", "value": "vision"} in spec["tolerations"]
    assert variables(spec)["NCCL_IB_HCA"] == "mlx5"
    assert "NCCL_IB_DISABLE" not in variables(spec)


def test_no_profile_adds_a_capability_or_leaves_the_restricted_standard(
    project: Project, tried: World
) -> None:
    spec = spec_of(tried, queued(project, tried, gpus=1))
    assert offences(spec, "restricted") == []
    for one in (*spec["initContainers"], *spec["containers"]):
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
    assert not any("hostPath" in volume for volume in spec["volumes"])
    assert not spec.get("hostNetwork")
    assert not spec.get("hostIPC")


def test_before_a_pod_has_tried_it_rdma_is_off_and_the_run_says_why(
    project: Project, world: World
) -> None:
    with_profile(world)
    run = queued(project, world, gpus=1)
    spec = spec_of(world, run)
    assert RESOURCE not in spec["containers"][0]["resources"]["limits"]
    found = variables(spec)
    assert (found["NCCL_IB_DISABLE"], found["NCCL_DEBUG"]) == ("1", "WARN")
    assert "NCCL_IB_HCA" not in found
    event = run.events.get(kind=EventKind.RDMA_OFF)
    assert event.text.startswith("RDMA is off: no pod has tried it")
    assert event.data["sentence"]["code"] == "clusters.rdma_untested"
    Run.objects.filter(pk=run.pk).update(state=states.RUNNING)
    run.refresh_from_db()
    (reason,) = explain(run).reasons
    assert (reason.kind, reason.text) == (ReasonKind.RDMA_OFF, event.text)


def test_a_run_without_accelerators_needs_no_node_with_rdma(project: Project, tried: World) -> None:
    run = queued(project, tried)
    spec = spec_of(tried, run)
    assert RESOURCE not in spec["containers"][0]["resources"]["limits"]
    assert variables(spec)["NCCL_IB_DISABLE"] == "1"
    assert not run.events.filter(kind=EventKind.RDMA_OFF).exists()


def test_a_job_that_is_asked_for_twice_is_the_same_whatever_became_of_the_profile(
    project: Project, tried: World
) -> None:
    run = queued(project, tried, gpus=1)
    placement = tried.submit(run)
    digest = placement.spec_sha256
    ClusterProfile.objects.all().delete()
    run.placements.update(job_uid="")
    attempt = run.attempts.get()
    tried.submit_again(attempt)
    placement.refresh_from_db()
    assert (placement.spec_sha256, bool(placement.job_uid)) == (digest, True)
    assert len(tried.stand_in.store.objects("jobs.batch")) == 1


def test_a_cluster_without_a_profile_has_pods_as_before(project: Project, world: World) -> None:
    spec = spec_of(world, queued(project, world))
    assert "priorityClassName" not in spec
    assert not any(name.startswith("NCCL") for name in variables(spec))
