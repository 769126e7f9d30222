"""Environments that a cluster builds: once, by a pod that it vouches for, for its own runs."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.core import storage
from atom.jobs import reconcile, states
from atom.jobs.executors import advance_builds, environments_in, start_build
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.orders import archive_of
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.models import ClusterJob, EnvironmentBuild, Run, Runtime
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runtimes.actions import build_results, cluster_builds
from atom.jobs.runtimes.pipelines.sdk_wheel import sdk_digest
from tests.factories.jobs import make_run
from tests.fakes.kubelet.process import can_isolate
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import log_of
from tests.jobs.packages import write_wheel

pytestmark = pytest.mark.django_db(transaction=True)

Json = dict[str, Any]

# pip starts several times.
BUILD_S = 120.0
SHOW = "import sys, importlib.metadata as m; print(sys.prefix, m.version('atom-pinned'))"
IMAGE = "registry.example/team/python:3"


@pytest.fixture
def index(tmp_path: Path, settings: Any, running_world: World) -> None:
    """Show the images a folder of wheels in the place of an index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder, "pinned")
    # The pods' own /tmp would hide the folder of this machine.
    seen = "/opt/wheels" if can_isolate() else str(folder)
    running_world.stand_in.kubelet.image_paths = ((str(folder), seen),)
    settings.ATOM_RUNTIME_PIP_OPTIONS = f"--no-index --no-deps --find-links {seen}"


def queued(project: Project, world: World, requirements: str = "atom-pinned\n") -> Run:
    runtime = environments_in(world.cluster).ensure(requirements, IMAGE, project)
    return make_run(
        project,
        cluster=world.cluster,
        state=states.QUEUED,
        image=IMAGE,
        runtime=runtime,
        command=["python3", "-c", SHOW],
    )


def begun(world: World, *runs: Run) -> EnvironmentBuild:
    """Let the runs wait for their environment, and its Job be made."""
    for run in runs:
        reconcile.advance(run.pk)
    build = EnvironmentBuild.objects.get(ended_at=None)
    start_build(build.pk)
    build.refresh_from_db()
    return build


def ended(world: World, job: ClusterJob, phase: str) -> Json:
    """Return the pod of a Job once its kubelet has ended it in a phase."""
    return world.stand_in.kubelet.wait_for(phase, job.job_name, job.namespace, BUILD_S)


@pytest.mark.usefixtures("index")
def test_an_environment_is_built_once_and_its_runs_start_in_it(
    project: Project, running_world: World
) -> None:
    world = running_world
    first, second = queued(project, world), queued(project, world)
    gate = world.stand_in.kubelet.hold_volumes()
    build = begun(world, first, second)
    first.refresh_from_db()
    assert explain(first).code == "preparing_in_cluster"
    gate.set()
    ended(world, build, "Succeeded")
    build_results.verify(build.pk)
    runtime = Runtime.objects.get(pk=build.runtime_id)
    assert (runtime.state, EnvironmentBuild.objects.count()) == (states.READY, 1)
    assert "Making an environment of Python" in runtime.log_tail
    assert storage.objects().head(runtime.archive_key).size_bytes == runtime.archive_bytes
    assert not storage.objects().exists(cluster_builds.staging_key(build))

    for run in (first, second):
        run.refresh_from_db()
        if run.state == states.QUEUED:
            world.submit(run)
        world.until(run, states.SUCCEEDED)
        prefix, version = log_of(run).split()
        assert version == "1"
        if can_isolate():
            assert prefix == names.ENVIRONMENT_DIR
        else:
            assert Path(prefix).is_relative_to(world.stand_in.kubelet.folder)
    assert EnvironmentBuild.objects.count() == 1


@pytest.mark.usefixtures("index")
def test_a_build_that_fails_fails_its_run_with_its_log_and_is_tried_again(
    project: Project, running_world: World
) -> None:
    world = running_world
    run = queued(project, world, "atom-missing\n")
    build = begun(world, run)
    ended(world, build, "Failed")
    reconcile.advance(run.pk)
    attempt = run.attempts.get()
    assert attempt.failure_class == "RUNTIME_BUILD"
    assert "No matching distribution found for atom-missing" in attempt.failure_reason
    run.refresh_from_db()
    assert run.runtime is not None
    environments_in(world.cluster).request(run.runtime)
    # The second build is to be open when ended ones are removed.
    world.stand_in.kubelet.hold_volumes()
    again = begun(world, queued(project, world, "atom-missing\n"))
    assert (again.number, again.runtime_id) == (2, build.runtime_id)
    assert again.job_name != build.job_name
    remove_ended()
    jobs = world.stand_in.store.objects("jobs.batch")
    assert [job["metadata"]["name"] for job in jobs] == [again.job_name]


@pytest.fixture
def waiting(project: Project, world: World) -> tuple[Run, EnvironmentBuild]:
    run = queued(project, world)
    return run, begun(world, run)


def test_the_objects_of_a_build_hold_no_secret_and_no_requirement(
    waiting: tuple[Run, EnvironmentBuild], world: World
) -> None:
    _, build = waiting
    pod = world.pod(build)
    text = str([pod, *world.stand_in.store.objects("jobs.batch")])
    assert "atombuild_" not in text
    assert "atom-pinned" not in text
    (main,) = pod["spec"]["containers"]
    assert main["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True


@pytest.mark.parametrize(
    "claim", [{"pod_uid": "another"}, {"pod": "another"}, {"token": "made-up"}]
)
def test_only_the_pod_of_a_build_may_build(
    waiting: tuple[Run, EnvironmentBuild], world: World, claim: dict[str, Any]
) -> None:
    _, build = waiting
    assert world.join(build, world.pod(build), **claim).status_code == 401


def test_the_pod_of_a_run_may_not_build(
    waiting: tuple[Run, EnvironmentBuild], project: Project, world: World
) -> None:
    _, build = waiting
    other = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    assert world.join(build, world.pod(other)).status_code == 401
    assert world.join(other, world.pod(build)).status_code == 401


def report(token: str, name: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    path = f"/api/v1/runner/environments/{name}/"
    return APIClient().post(path, body, format="json", headers=headers)


def described(content: bytes) -> dict[str, Any]:
    return {
        "sha256": sha256(content).hexdigest(),
        "archive_bytes": len(content),
        "python": "3.12.1",
        "machine": "x86_64",
        "size_bytes": 9,
    }


def test_an_archive_that_is_not_the_described_one_is_no_environment(
    waiting: tuple[Run, EnvironmentBuild], world: World
) -> None:
    run, build = waiting
    token = world.join(build, world.pod(build)).json()["token"]
    storage.objects().put(cluster_builds.staging_key(build), b"another")
    assert report(token, "finish", described(b"archive")).status_code == 200
    build_results.verify(build.pk)
    reconcile.advance(run.pk)
    assert run.attempts.get().failure_class == "RUNTIME_BUILD"
    assert "not the one" in run.attempts.get().failure_reason
    assert report(token, "finish", described(b"archive")).status_code == 401


def test_a_report_that_arrives_twice_changes_nothing(
    waiting: tuple[Run, EnvironmentBuild], world: World
) -> None:
    _, build = waiting
    token = world.join(build, world.pod(build)).json()["token"]
    storage.objects().put(cluster_builds.staging_key(build), b"archive")
    assert report(token, "finish", described(b"archive")).status_code == 200
    # The build is over: the second one is told to stop.
    assert report(token, "finish", described(b"another")).status_code == 401
    build_results.verify(build.pk)
    build_results.verify(build.pk)
    runtime = Runtime.objects.get()
    assert (runtime.state, runtime.python) == (states.READY, "3.12.1")
    assert storage.objects().get(runtime.archive_key) == b"archive"


@pytest.mark.parametrize(
    "wrong", [{"sha256": "x"}, {"archive_bytes": 6 << 30}, {"size_bytes": -1}, {"python": "\0"}]
)
def test_a_report_that_is_malformed_is_refused(
    waiting: tuple[Run, EnvironmentBuild], world: World, wrong: dict[str, Any]
) -> None:
    _, build = waiting
    token = world.join(build, world.pod(build)).json()["token"]
    assert report(token, "finish", described(b"archive") | wrong).status_code == 400
    build.refresh_from_db()
    assert build.sent == {}


def test_a_second_pod_of_a_build_takes_the_place_of_the_first(
    waiting: tuple[Run, EnvironmentBuild], world: World
) -> None:
    _, build = waiting
    first = world.pod(build)
    old = world.join(build, first).json()["token"]
    new = world.join(build, world.twin(first)).json()["token"]
    assert report(old, "log", {"text": "old"}).status_code == 401
    assert report(new, "log", {"text": "new"}).status_code == 200
    assert Runtime.objects.get().log_tail == "new"


def test_a_job_that_vanished_is_built_again(
    waiting: tuple[Run, EnvironmentBuild], world: World
) -> None:
    run, build = waiting
    world.sync()
    world.stand_in.store.remove("jobs.batch", (build.namespace, build.job_name))
    world.sync()
    advance_builds()
    assert begun(world, run).number == 2


def finish(build: EnvironmentBuild, world: World, content: bytes) -> Runtime:
    """Let the pod of a build send an archive, and have it verified."""
    token = world.join(build, world.pod(build)).json()["token"]
    storage.objects().put(cluster_builds.staging_key(build), content)
    assert report(token, "finish", described(content)).status_code == 200
    build_results.verify(build.pk)
    return Runtime.objects.get(pk=build.runtime_id)


def test_a_cluster_uses_only_what_it_has_built_itself(
    waiting: tuple[Run, EnvironmentBuild], project: Project, world: World
) -> None:
    _, build = waiting
    poisoned = finish(build, world, b"poisoned")
    with StandIn(tls=True) as stand_in:
        stand_in.nodes.add("n1")
        west = World(stand_in, "west")
        run = queued(project, west)
        other = begun(west, run)
        assert (other.cluster, other.runtime.cluster) == (west.cluster, west.cluster)
        assert other.runtime != poisoned
        assert reconcile.advance(run.pk) == states.WARMING
        own = finish(other, west, b"own")
        assert reconcile.advance(run.pk) == states.SUBMITTED
        run.refresh_from_db()
        archive = archive_of(run)
    assert archive is not None
    assert archive["sha256"] == own.archive_sha256 == sha256(b"own").hexdigest()
    poisoned.refresh_from_db()
    assert storage.objects().get(poisoned.archive_key) == b"poisoned"


def test_a_run_that_waits_with_a_shared_environment_of_an_earlier_release_gets_its_own(
    project: Project, world: World
) -> None:
    run = queued(project, world)
    shared = Runtime.objects.create(
        digest="7" * 64,
        requirements="atom-pinned",
        image=IMAGE,
        state=states.READY,
        archive_key="environments/shared",
    )
    Run.objects.filter(pk=run.pk).update(runtime=shared)
    build = begun(world, run)
    run.refresh_from_db()
    assert run.runtime == build.runtime != shared
    assert build.runtime.cluster == world.cluster


def test_another_image_is_another_environment_and_a_new_runner_is_none(
    project: Project, world: World
) -> None:
    environments = environments_in(world.cluster)
    first = environments.ensure("atom-pinned\n", IMAGE, project)
    assert environments.ensure("# why\natom-pinned", IMAGE, project) == first
    assert environments.ensure("atom-pinned\n", f"{IMAGE}.1", project) != first
    assert environments.ensure("", IMAGE, project) is None


def test_only_changes_outside_of_the_runner_change_the_sdk_of_an_environment(
    tmp_path: Path,
) -> None:
    (tmp_path / "atom_sdk" / "runner").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    runner, other = tmp_path / "atom_sdk" / "runner" / "pod.py", tmp_path / "atom_sdk" / "run.py"
    digests = []
    for file, text in ((runner, "1"), (runner, "2"), (other, "1")):
        file.write_text(text)
        sdk_digest.cache_clear()
        digests.append(sdk_digest(tmp_path, "runner"))
    sdk_digest.cache_clear()
    assert digests[0] == digests[1] != digests[2]
