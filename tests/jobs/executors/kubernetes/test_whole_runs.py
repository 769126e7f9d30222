"""A run in a cluster from its request to its end, with the real runner and the real server."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.models import Run
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


def queued(project: Project, world: World, command: list[str]) -> Run:
    return make_run(project, cluster=world.cluster, state=states.QUEUED, command=command)


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
