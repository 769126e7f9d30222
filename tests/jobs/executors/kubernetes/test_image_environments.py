"""Environments that become images: built once, pushed by the server, used by digest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from atom.accounts.models import Project
from atom.clusters.models import ClusterProfile
from atom.core import crypto, storage
from atom.jobs import reconcile, states
from atom.jobs.executors import environments_in
from atom.jobs.models import EnvironmentBuild, ProjectSecret, Run, Runtime
from atom.jobs.runtimes.actions import build_results, cluster_builds, cluster_images
from atom.jobs.runtimes.pipelines.runner_zip import runner_zip
from tests.factories.accounts import make_project
from tests.fakes.kubelet.process import can_isolate
from tests.fakes.registry import Registry, add_image, read_image
from tests.fakes.registry.server import Account
from tests.jobs.executors.kubernetes.image_runs import (
    BASE,
    again,
    begin,
    finish,
    packed,
    push_to,
    queued,
    send,
    unpack,
)
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import log_of
from tests.jobs.packages import write_wheel

pytestmark = pytest.mark.django_db(transaction=True)

# pip starts several times.
BUILD_S = 120.0
SHOW = "import sys, importlib.metadata as m; print(sys.prefix, m.version('atom-pinned'))"


def config(registry: Registry, user: str, password: str) -> str:
    return json.dumps({"auths": {registry.host: {"username": user, "password": password}}})


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as served:
        add_image(served, BASE, "3", architectures=("amd64", "arm64"))
        yield served


@pytest.fixture
def image(registry: Registry) -> str:
    return f"{registry.host}/{BASE}:3"


@pytest.fixture
def pushing(world: World, registry: Registry) -> World:
    """Return a cluster whose environments become images."""
    push_to(world, registry)
    return world


def main_of(pod: dict[str, Any]) -> dict[str, Any]:
    (main,) = pod["spec"]["containers"]
    found: dict[str, Any] = main
    return found


def test_an_environment_becomes_an_image_that_runs_use_by_its_digest(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    build = begin(run)
    base = f"{registry.host}/{BASE}@{registry.store.repository(BASE).tags['3']}"
    pod = pushing.pod(build)
    # The pod builds in what the image is made of, though the tag may move.
    assert main_of(pod)["image"] == build.base_image == base
    runtime = finish(build, pushing, packed(tmp_path))
    assert (runtime.state, runtime.archive_key) == (states.READY, "")
    assert runtime.pushed_image.startswith(f"{registry.host}/envs@sha256:")
    assert not storage.objects().exists(cluster_builds.staging_key(build))
    digest = runtime.pushed_image.partition("@")[2]
    _, found, layers = read_image(registry, "envs", digest)
    assert found["architecture"] == "amd64"
    assert {"atom/env/bin/tool", "atom/runner/runner.pyz"} <= layers[-1].keys()

    placement = pushing.submit(run)
    pod = pushing.pod(placement)
    main = main_of(pod)
    assert main["image"] == runtime.pushed_image
    assert main["command"] == ["python3", "/atom/runner/runner.pyz", "pod"]
    assert "initContainers" not in pod["spec"]
    volumes = {one["name"] for one in pod["spec"]["volumes"]}
    assert volumes == {"work", "tmp", "shm", "token"}
    assert pushing.join(placement, pod).json()["job"]["environment"] == {"in_image": True}


def test_a_new_runner_is_fetched_beside_an_older_image(
    project: Project, pushing: World, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    runtime = finish(begin(run), pushing, packed(tmp_path))
    assert runtime.pushed_runner == runner_zip()[1]
    Runtime.objects.update(pushed_runner="0" * 64)
    pod = pushing.pod(pushing.submit(queued(project, pushing, image)))
    main = main_of(pod)
    assert main["command"] == ["python3", "/atom/layer/runner.pyz", "pod"]
    assert [one["image"] for one in pod["spec"]["initContainers"]] == [runtime.pushed_image]
    assert "/atom/env" not in {one["mountPath"] for one in main["volumeMounts"]}


def test_another_name_of_the_same_base_takes_the_image_that_is_there(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    runtime = finish(begin(queued(project, pushing, image)), pushing, packed(tmp_path))
    tags = registry.store.repository(BASE).tags
    tags["same"] = tags["3"]
    run = queued(project, pushing, f"{registry.host}/{BASE}:same")
    assert run.runtime != runtime
    reconcile.advance(run.pk)
    again(EnvironmentBuild.objects.get(runtime=run.runtime))
    assert run.runtime is not None
    same = Runtime.objects.get(pk=run.runtime.pk)
    assert (same.state, same.pushed_image) == (states.READY, runtime.pushed_image)
    assert same.content_digest == runtime.content_digest
    jobs = pushing.stand_in.store.objects("jobs.batch")
    assert len([one for one in jobs if one["metadata"]["name"].startswith("atom-env-")]) == 1
    # One whose image is gone is no help.
    registry.store.repository("envs").manifests.clear()
    tags["third"] = tags["3"]
    third = begin(queued(project, pushing, f"{registry.host}/{BASE}:third"))
    assert third.job_uid


def test_the_same_packages_in_another_base_are_another_environment(
    project: Project, pushing: World, registry: Registry, image: str
) -> None:
    add_image(registry, BASE, "4", payload=b"four")
    first, other = (
        begin(queued(project, pushing, f"{registry.host}/{BASE}:{tag}")) for tag in ("3", "4")
    )
    contents = {Runtime.objects.get(pk=one.runtime_id).content_digest for one in (first, other)}
    assert len(contents) == 2


def test_a_project_with_credentials_has_environments_of_its_own(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    registry.auth = "bearer"
    registry.accounts["bot"] = Account("secret", pulls={BASE}, pushes={"envs"})
    ProjectSecret.objects.create(
        project=project,
        name="DOCKER_AUTH_CONFIG",
        encrypted_value=crypto.encrypt(config(registry, "bot", "secret")),
        set_at=timezone.now(),
    )
    mine = queued(project, pushing, image)
    others = queued(make_project("audio"), pushing, image)
    assert mine.runtime != others.runtime
    assert mine.runtime is not None
    assert mine.runtime.owner == project.pk
    # Private layers of the base do not reach a project that may not read them.
    reconcile.advance(others.pk)
    again(EnvironmentBuild.objects.get(runtime=others.runtime))
    reconcile.advance(others.pk)
    attempt = others.attempts.get()
    assert attempt.failure_class == "RUNTIME_BUILD"
    assert attempt.evidence["failure"]["code"] == "base_image_denied"
    runtime = finish(begin(mine), pushing, packed(tmp_path))
    assert runtime.state == states.READY


def failed(run: Run) -> tuple[str, str, str]:
    reconcile.advance(run.pk)
    attempt = run.attempts.get()
    assert attempt.failure_class == "RUNTIME_BUILD"
    return attempt.evidence["failure"]["code"], attempt.failure_reason, attempt.suggestion


def test_credentials_of_the_cluster_push_and_are_in_no_object_and_no_answer(
    project: Project, world: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    registry.auth = "bearer"
    registry.public.add(BASE)
    registry.accounts["bot"] = Account("topsecret", pushes={"envs"})
    push_to(world, registry, config(registry, "bot", "topsecret"))
    run = queued(project, world, image)
    build = begin(run)
    pod = world.pod(build)
    answer = world.join(build, pod)
    runtime = finish(build, world, packed(tmp_path))
    assert runtime.state == states.READY
    store = world.stand_in.store
    kinds = ("pods.", "jobs.batch", "secrets.", "namespaces.", "serviceaccounts.")
    seen = str([store.objects(kind) for kind in kinds]) + answer.content.decode()
    stored = ClusterProfile.objects.get().encrypted_image_credentials
    for secret in ("topsecret", stored, crypto.decrypt(stored)):
        assert secret not in seen


def test_a_base_that_is_not_there_ends_the_run_with_the_next_step(
    project: Project, pushing: World, registry: Registry
) -> None:
    run = queued(project, pushing, f"{registry.host}/{BASE}:9")
    reconcile.advance(run.pk)
    again(EnvironmentBuild.objects.get())
    code, reason, suggestion = failed(run)
    assert code == "base_image_missing"
    assert f"{registry.host}/{BASE} with the version 9" in reason
    assert "tag" in suggestion
    assert pushing.stand_in.store.objects("jobs.batch") == []


def test_a_name_that_no_registry_has_ends_the_run(project: Project, pushing: World) -> None:
    run = queued(project, pushing, "registry.example/x@sha512:1")
    reconcile.advance(run.pk)
    again(EnvironmentBuild.objects.get())
    assert failed(run)[0] == "base_image_missing"


def test_a_registry_that_takes_no_credentials_or_is_full_ends_the_run(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    build = begin(run)
    registry.store.quota_bytes = 10
    content = packed(tmp_path)
    finish(build, pushing, content)
    code, reason, _ = failed(run)
    assert code == "registry_full"
    assert "upper limit" in reason
    assert not storage.objects().exists(cluster_builds.staging_key(build))
    # A retry asks again, with no trace of the last failure.
    environments_in(pushing.cluster).request(build.runtime)
    assert Runtime.objects.get().image_failure == {}
    registry.store.quota_bytes = None
    registry.auth, registry.public = "bearer", {BASE}
    other = queued(project, pushing, image)
    finish(begin(other), pushing, content)
    assert failed(other)[0] == "registry_denied"


def test_a_registry_that_is_away_is_asked_again_before_the_build(
    project: Project, pushing: World, registry: Registry, image: str
) -> None:
    registry.fault = 503
    run = queued(project, pushing, image)
    build = begin(run)
    assert (build.ended_at, build.base_image, build.job_uid) == (None, "", "")
    assert "does not answer" in Run.objects.get(pk=run.pk).progress_text
    registry.fault = 0
    again(build)
    build.refresh_from_db()
    assert build.job_uid


def test_a_registry_that_is_away_is_asked_again_after_the_build(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    build = begin(run)
    registry.fault = 503
    assert finish(build, pushing, packed(tmp_path)).state == states.BUILDING
    assert storage.objects().exists(cluster_builds.staging_key(build))
    registry.fault = 0
    build_results.verify(build.pk)
    assert Runtime.objects.get().state == states.READY


def test_a_registry_that_is_away_for_long_ends_the_run(
    project: Project, pushing: World, registry: Registry, image: str
) -> None:
    registry.fault = 503
    run = queued(project, pushing, image)
    build = begin(run)
    earlier = timezone.now() - timedelta(days=1)
    EnvironmentBuild.objects.filter(pk=build.pk).update(created_at=earlier)
    again(build)
    assert failed(run)[0] == "registry_away"


def test_an_archive_that_is_not_the_described_one_is_no_image(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    finish(begin(run), pushing, packed(tmp_path), sha256="0" * 64)
    code, reason, _ = failed(run)
    assert code == "runtime_build"
    assert "not the one" in reason
    assert registry.store.repository("envs").manifests == {}


def test_an_archive_that_is_none_is_no_image(project: Project, pushing: World, image: str) -> None:
    run = queued(project, pushing, image)
    finish(begin(run), pushing, b"nothing")
    assert "cannot be read" in failed(run)[1]


def test_an_image_that_is_gone_is_built_again_and_a_silent_registry_changes_nothing(
    project: Project, pushing: World, registry: Registry, image: str, tmp_path: Path
) -> None:
    run = queued(project, pushing, image)
    runtime = finish(begin(run), pushing, packed(tmp_path))
    registry.fault = 503
    cluster_images.look_for_image(runtime.pk)
    registry.fault = 0
    cluster_images.look_for_image(runtime.pk)
    assert Runtime.objects.get().state == states.READY
    registry.store.repository("envs").manifests.clear()
    cluster_images.look_for_image(runtime.pk)
    assert Runtime.objects.get().state == states.PENDING
    assert begin(queued(project, pushing, image)).number == 2


def test_without_a_repository_an_environment_stays_an_archive(
    project: Project, pushing: World, registry: Registry, image: str
) -> None:
    own = queued(project, pushing, image)
    ClusterProfile.objects.update(image_repository="")
    plain = queued(project, pushing, image)
    assert plain.runtime != own.runtime
    assert plain.runtime is not None
    assert (plain.runtime.repository, plain.runtime.owner) == ("", None)
    registry.seen.clear()
    build = begin(plain)
    assert (build.base_image, registry.seen) == ("", [])
    send(build, pushing, b"archive")
    build_results.verify(build.pk)
    assert Runtime.objects.get(pk=build.runtime_id).archive_key


@pytest.mark.skipif(not can_isolate(), reason="an image needs namespaces of its own")
def test_a_build_in_a_pod_becomes_an_image_in_which_a_run_starts(
    project: Project, running_world: World, registry: Registry, settings: Any, tmp_path: Path
) -> None:
    world, image = running_world, f"{registry.host}/{BASE}:3"
    (tmp_path / "wheels").mkdir()
    write_wheel(tmp_path / "wheels", "pinned")
    world.stand_in.kubelet.image_paths = ((str(tmp_path / "wheels"), "/opt/wheels"),)
    settings.ATOM_RUNTIME_PIP_OPTIONS = "--no-index --no-deps --find-links /opt/wheels"
    push_to(world, registry)
    build = begin(queued(project, world, image))
    kubelet = world.stand_in.kubelet
    kubelet.wait_for("Succeeded", build.job_name, build.namespace, BUILD_S)
    build_results.verify(build.pk)
    first = Runtime.objects.get().pushed_image
    assert first, Runtime.objects.get().log_tail
    kubelet.images.contents[first] = unpack(registry, first, tmp_path / "image")
    run = queued(project, world, image, command=["python3", "-c", SHOW])
    world.submit(run)
    world.until(run, states.SUCCEEDED)
    assert log_of(run).split() == ["/atom/env", "1"]

    # Another pod builds the same bytes.
    Runtime.objects.update(state=states.PENDING, pushed_image="", content_digest="")
    registry.seen.clear()
    second = begin(queued(project, world, image))
    kubelet.wait_for("Succeeded", second.job_name, second.namespace, BUILD_S)
    build_results.verify(second.pk)
    assert Runtime.objects.get().pushed_image == first
    assert registry.pushed("PUT", "") == []
