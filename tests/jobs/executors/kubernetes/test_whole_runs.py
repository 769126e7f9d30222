"""A run in a cluster from its request to its end, with the real runner and the real server."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.cache.models import CacheRecord
from atom.clusters.models import Node, NodeAccelerator
from atom.clusters.registration.actions.registering import check_now
from atom.jobs import states
from atom.jobs.executors.kubernetes.engines.manifests import affinity_of, digest_of, job_of
from atom.jobs.executors.kubernetes.orders import order_of
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.models import Run, RunInput
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

Json = dict[str, Any]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(running_world: World) -> World:
    return running_world


def python(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def queued(project: Project, world: World, command: list[str], **fields: Any) -> Run:
    return make_run(project, cluster=world.cluster, state=states.QUEUED, command=command, **fields)


def exit_code(pod: Json) -> int:
    """Return the code with which a pod's main container ended."""
    (main,) = pod["status"]["containerStatuses"]
    return int(main["state"]["terminated"]["exitCode"])


def test_a_run_in_a_cluster_succeeds_with_its_log_and_leaves_nothing(
    project: Project, world: World
) -> None:
    run = queued(project, world, python("print('hello from a pod')"))
    world.submit(run)
    assert exit_code(world.stand_in.kubelet.wait_for("Succeeded")) == 0
    world.until(run, states.SUCCEEDED)
    attempt = run.attempts.get()
    assert attempt.node is not None
    assert attempt.node.name == "n1"
    assert attempt.log_complete
    assert remove_ended() == 1
    wait_for(lambda: not world.stand_in.store.objects("pods."))
    assert not world.stand_in.store.objects("jobs.batch")
    wait_for(lambda: not world.stand_in.store.objects("services."))


def test_a_program_that_fails_ends_its_run_with_its_own_code(
    project: Project, world: World
) -> None:
    run = queued(project, world, python("raise SystemExit(143)"))
    world.submit(run)
    # 143 would say that the cluster ended the pod.
    assert exit_code(world.stand_in.kubelet.wait_for("Failed")) == 1
    world.until(run, states.FAILED)
    assert (run.attempts.get().exit_code, run.attempts.get().failure_class) == (143, "USER_CODE")


def test_a_preempted_run_goes_on_as_a_new_attempt_in_a_new_job(
    project: Project, world: World
) -> None:
    kubelet = world.stand_in.kubelet
    run = queued(project, world, python("import time; time.sleep(60)"))
    world.submit(run)
    world.until(run, states.RUNNING)
    kubelet.evict(kubelet.wait_for("Running"))
    wait_for(lambda: world.tick(run) == states.RETRY_WAIT)
    wait_for(lambda: _job_has_failed(world))
    world.sync()
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    run.refresh_from_db()
    first = run.placements.get()
    second = world.submit(run)
    assert second.pk != first.pk
    assert [one.failure_class for one in run.attempts.order_by("number")] == ["PREEMPTED", ""]


def _job_has_failed(world: World) -> bool:
    (job,) = world.stand_in.store.objects("jobs.batch")
    return any(one["type"] == "Failed" for one in job["status"].get("conditions") or ())


def test_a_run_of_a_kind_gets_a_node_with_that_product_of_its_resource(
    project: Project, world: World
) -> None:
    # The scheduler takes the emptiest node, the first by name among equals.
    product, resource = "amd.com/gpu.product-name", {"amd.com/gpu": "2"}
    world.stand_in.nodes.add("a-other", resource, {product: "MI210"})
    world.stand_in.nodes.add("b-wanted", resource, {product: "MI300X"})
    check_now(world.cluster)
    command = python("print('on an accelerator')")
    run = queued(project, world, command, gpus=2, accelerator="MI300X")
    placement = world.submit(run)
    (container,) = world.pod(placement)["spec"]["containers"]
    assert container["resources"]["limits"]["amd.com/gpu"] == "2"
    pod = world.stand_in.kubelet.wait_for("Succeeded")
    assert pod["spec"]["nodeSelector"] == {product: "MI300X"}
    assert {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["spec"][
        "tolerations"
    ]
    world.until(run, states.SUCCEEDED)
    node = run.attempts.get().node
    assert node is not None
    assert node.name == "b-wanted"


def test_the_job_of_a_placement_asks_for_the_same_when_the_nodes_have_changed(
    project: Project, world: World
) -> None:
    world.stand_in.nodes.add("n2", {"nvidia.com/mig-1g.10gb": "7"})
    check_now(world.cluster)
    run = queued(project, world, python("pass"), gpus=1, accelerator="nvidia.com/mig-1g.10gb")
    placement = world.submit(run)
    NodeAccelerator.objects.all().delete()
    attempt = run.attempts.select_related("run__project").get()
    order = order_of(attempt, placement)
    assert (order.accelerators, order.node_selector) == ({"nvidia.com/mig-1g.10gb": 1}, {})
    assert digest_of(job_of(order)["spec"]) == placement.spec_sha256


def test_the_pods_of_a_run_prefer_the_nodes_that_hold_its_data(
    project: Project, world: World
) -> None:
    world.stand_in.nodes.add("n2", {})
    check_now(world.cluster)
    version = make_version(make_dataset(project), {"a.jpg": None})
    run = queued(project, world, python("pass"))
    RunInput.objects.create(run=run, alias="data", version=version, delivery="stream")
    node = Node.objects.get(cluster=world.cluster, name="n2")
    record = CacheRecord.objects.create(
        node=node, version=version, bytes_total=1000, bytes_present=600
    )
    placement = world.submit(run)
    record.delete()
    assert placement.preferred_nodes == [["n2", 60]]
    order = order_of(run.attempts.select_related("run__project").get(), placement)
    spec = job_of(order)["spec"]
    assert digest_of(spec) == placement.spec_sha256
    assert spec["template"]["spec"]["affinity"] == affinity_of([("n2", 60)])
