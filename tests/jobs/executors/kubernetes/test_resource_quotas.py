"""The ResourceQuota of a project's namespace: made, changed, taken away, and why a run waits."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.quotas.actions.quotas import set_quotas
from atom.clusters.quotas.engines.limits import QuotaLimits
from atom.jobs import reconcile, states
from atom.jobs.executors import environments_in, start_build
from atom.jobs.executors.kubernetes.engines.quota_use import quota_use
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.waiting import why_waiting
from atom.jobs.executors.kubernetes.resource_quotas import sync_open_quotas
from atom.jobs.models import EnvironmentBuild, Run
from atom.jobs.runs.actions.explain import explain
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
GPU = "nvidia.com/gpu"


def queued(project: Project, world: World, **more: Any) -> Run:
    return make_run(project, make_user(), state=states.QUEUED, cluster=world.cluster, **more)


def limit(world: World, common: QuotaLimits | None) -> None:
    set_quotas(world.cluster, common, {}, make_user(is_superuser=True))


def hard(world: World) -> list[Json]:
    return [one["spec"]["hard"] for one in world.stand_in.store.objects("resourcequotas.")]


def test_each_start_makes_the_quota_what_it_is_now(project: Project, world: World) -> None:
    world.submit(queued(project, world))
    assert hard(world) == []
    limit(world, QuotaLimits(8, 1 << 34, 10, {GPU: 2}))
    world.submit(queued(project, world))
    expected = {"limits.cpu": "8", "limits.memory": str(1 << 34), "pods": "10"}
    assert hard(world) == [{**expected, f"requests.{GPU}": "2"}]
    limit(world, QuotaLimits(pods=3))
    world.submit(queued(project, world))
    assert hard(world) == [{"pods": "3"}]
    limit(world, None)
    world.submit(queued(project, world))
    assert hard(world) == []


def test_a_run_above_the_rest_of_its_quota_waits_and_says_how_much_is_used(
    project: Project, world: World
) -> None:
    limit(world, QuotaLimits(accelerators={GPU: 1}))
    world.pod(world.submit(queued(project, world, gpus=1)))
    waiting = queued(project, world, gpus=1)
    placement = world.submit(waiting)

    def refused() -> Any:
        return [
            event
            for event in world.stand_in.store.objects("events.")
            if event["reason"] == "FailedCreate"
        ]

    wait_for(refused)
    job = world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name)
    wait = why_waiting(job, world.pods(placement), refused())
    assert wait is not None
    assert wait.code is WaitCode.QUOTA_EXCEEDED
    shown = {name: wait.params[name] for name in ("quota", "resource", "asked", "used", "limit")}
    assert shown == {"quota": "atom-runs", "resource": GPU, "asked": "1", "used": "1", "limit": "1"}
    assert "1 of 1 nvidia.com/gpu are used" in wait.sentence

    # A larger quota reaches the namespace without another start.
    limit(world, QuotaLimits(accelerators={GPU: 2}))
    sync_open_quotas(world.cluster.pk)
    assert hard(world) == [{f"requests.{GPU}": "2"}]
    assert world.pod(placement)


def test_a_run_whose_build_is_refused_says_why(project: Project, world: World) -> None:
    limit(world, QuotaLimits(memory_bytes=1 << 30))
    runtime = environments_in(world.cluster).ensure("six\n", "python:3", project)
    run = queued(project, world, runtime=runtime)
    reconcile.advance(run.pk)
    start_build(EnvironmentBuild.objects.get().pk)

    def told() -> bool:
        world.sync()
        run.refresh_from_db()
        return "atom-runs of its namespace is used up" in str(explain(run))

    wait_for(told)


def test_the_quota_of_one_project_is_not_that_of_another(project: Project, world: World) -> None:
    boss = make_user(is_superuser=True)
    set_quotas(world.cluster, None, {project: QuotaLimits(pods=1)}, boss)
    world.submit(queued(make_project("audio"), world))
    assert hard(world) == []
    world.submit(queued(project, world))
    (quota,) = world.stand_in.store.objects("resourcequotas.")
    assert quota["metadata"]["namespace"].endswith("-vision")


def test_the_use_of_a_quota_is_what_pods_hold_until_they_end(
    project: Project, world: World
) -> None:
    boss, reader = APIClient(), APIClient()
    boss.force_authenticate(make_user(is_superuser=True))
    reader.force_authenticate(make_member(make_project("audio")))

    def used(client: APIClient = boss) -> Any:
        world.sync()
        return client.get(f"/api/v1/clusters/{world.cluster.name}/quotas/").json()["used"]

    assert used() == []
    run = queued(project, world, cpus=2, memory_bytes=1 << 30, gpus=1)
    pod = world.pod(world.submit(run))
    runtime = environments_in(world.cluster).ensure("six\n", "python:3", project)
    reconcile.advance(queued(project, world, runtime=runtime).pk)
    build = EnvironmentBuild.objects.get()
    start_build(build.pk)
    build.refresh_from_db()
    world.pod(build)
    both = {"cpus": 3, "memory_bytes": 5 << 30, "pods": 2, "accelerators": {GPU: 1}}
    assert used() == [{"project": "vision", **both}]
    # A project of others is not named.
    assert used(reader) == []
    world.set_status(pod, {"phase": "Succeeded"})
    rest = {"cpus": 1, "memory_bytes": 4 << 30, "pods": 1, "accelerators": {}}
    assert used() == [{"project": "vision", **rest}]


def test_a_cluster_that_is_away_gets_its_quotas_later(project: Project, world: World) -> None:
    world.submit(queued(project, world))
    limit(world, QuotaLimits(pods=1))
    world.stand_in.stop()
    sync_open_quotas(world.cluster.pk)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            'pods "a" is forbidden: exceeded quota: q, requested: limits.memory=4Gi,pods=1, '
            "used: limits.memory=15Gi,pods=9, limited: limits.memory=16Gi,pods=9",
            {"resource": "memory", "asked": "4Gi", "used": "15Gi", "limit": "16Gi"},
        ),
        ("exceeded quota: q", {}),
        ("exceeded quota: q, requested: , used: , limited: ", {}),
        ("exceeded quota: q, requested: a=1, used: b=1, limited: c=1", {}),
        ("exceeded quota: q, requested: =1, used: =1, limited: =1", {}),
        ("exceeded quota: q, requested: a, used: a, limited: a", {}),
        ("", {}),
    ],
)
def test_a_refusal_is_read_or_left_as_it_is(message: str, expected: Json) -> None:
    assert quota_use(message) == expected
    event = {"involvedObject": {"name": "j"}, "reason": "FailedCreate", "message": message}
    job = {"metadata": {"name": "j"}, "spec": {"completions": 1}}
    wait = why_waiting(job, (), [event])
    assert wait is not None
    if "exceeded quota: q" in message:
        assert wait.code is WaitCode.QUOTA_EXCEEDED


def test_a_quota_that_is_not_counted_yet_is_no_refusal() -> None:
    message = 'pods "a" is forbidden: status unknown for quota: atom-runs, resources: limits.cpu'
    event = {"involvedObject": {"name": "j"}, "reason": "FailedCreate", "message": message}
    job = {"metadata": {"name": "j"}, "spec": {"completions": 1}}
    wait = why_waiting(job, (), [event])
    assert wait is not None
    assert wait.code is WaitCode.PODS_TO_BE_CREATED
