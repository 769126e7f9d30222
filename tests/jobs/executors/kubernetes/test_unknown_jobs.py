"""Jobs of this installation that its database does not know: listed, and never deleted."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.health_checks import findings
from atom.jobs.models import Placement, Run, UnknownJob
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def placement(project: Project, world: World) -> Placement:
    run = make_run(project, cluster=world.cluster, state=states.QUEUED, command=["true"])
    return world.submit(run)


def forget(placement: Placement) -> None:
    """Let the database be that of a backup from before the run."""
    Run.objects.filter(pk=placement.run_id).update(state=states.QUEUED)
    placement.attempts.update(placed_in=None)
    Placement.objects.filter(pk=placement.pk).delete()


def listed(world: World) -> list[dict[str, Any]]:
    client = APIClient()
    client.force_authenticate(make_user("root", is_superuser=True))
    answer = client.get(f"/api/v1/clusters/{world.cluster.name}/unknown-jobs/")
    assert answer.status_code == 200, answer.content
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def test_a_job_that_the_database_forgot_is_listed_with_its_command_and_stays(
    placement: Placement, world: World
) -> None:
    world.pod(placement)
    forget(placement)
    world.sync()
    remove_ended()
    (row,) = listed(world)
    name, namespace = placement.job_name, placement.namespace
    assert (row["name"], row["namespace"], row["pods"]) == (name, namespace, 1)
    assert row["made_at"]
    assert row["command"] == (
        f"kubectl delete job {name} --namespace {namespace} --cascade=background"
    )
    assert world.stand_in.store.get("jobs.batch", namespace, name) is not None


def test_health_names_the_clusters_of_unknown_jobs(placement: Placement, world: World) -> None:
    world.sync()
    assert "jobs_unknown" not in {one.code for one in findings()}
    forget(placement)
    world.sync()
    (finding,) = [one for one in findings() if one.code == "jobs_unknown"]
    assert finding.figures == {"total": 1, "names": "east"}


def test_a_job_of_a_placement_is_known_even_before_its_uid_is(
    placement: Placement, world: World
) -> None:
    Placement.objects.filter(pk=placement.pk).update(job_uid="")
    world.sync()
    assert not UnknownJob.objects.exists()


def test_a_job_under_the_name_of_another_is_unknown(placement: Placement, world: World) -> None:
    Placement.objects.filter(pk=placement.pk).update(job_uid="another")
    world.sync()
    assert UnknownJob.objects.get().name == placement.job_name


def test_a_job_that_somebody_deleted_is_listed_no_more(placement: Placement, world: World) -> None:
    forget(placement)
    world.sync()
    assert UnknownJob.objects.count() == 1
    world.stand_in.store.remove("jobs.batch", (placement.namespace, placement.job_name))
    world.sync()
    assert not UnknownJob.objects.exists()


def test_a_job_whose_label_is_no_id_is_unknown(placement: Placement, world: World) -> None:
    stored = world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name)
    assert stored is not None
    labels = stored["metadata"]["labels"] | {"atom.dev/placement": "x"}
    metadata = {"name": "copied", "labels": labels}
    copied = {"metadata": metadata, "spec": {"template": stored["spec"]["template"]}}
    for label in ("controller-uid", "job-name"):
        copied["spec"]["template"]["metadata"]["labels"].pop(label, None)
        copied["spec"]["template"]["metadata"]["labels"].pop(f"batch.kubernetes.io/{label}", None)
    world.stand_in.create("jobs.batch", copied, placement.namespace)
    world.sync()
    assert [one.name for one in UnknownJob.objects.all()] == ["copied"]


@pytest.mark.parametrize("name", ["east", "nowhere"])
def test_only_administrators_see_unknown_jobs(world: World, name: str) -> None:
    client = APIClient()
    client.force_authenticate(make_user("somebody"))
    assert client.get(f"/api/v1/clusters/{name}/unknown-jobs/").status_code == 404
