"""The cluster of a run: what may be chosen, what is refused and how, and where it is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.models import AcceleratorPrice, Cluster, Node, NodeAccelerator
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Run
from atom.jobs.runs.engines.cluster_choice import Fits, Offer, judge
from atom.jobs.runs.engines.images import wrong_image
from atom.jobs.scheduling.engines.placement import Demand, NodeCapacity
from tests.factories.accounts import make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_run
from tests.jobs.asking import create

pytestmark = pytest.mark.django_db

GIB = 1 << 30
CHOICES = "/api/v1/projects/vision/cluster-choices/"


def make_cluster(name: str = "west", **fields: Any) -> Cluster:
    """Return a registered cluster of one node: 8 CPUs, 32 GiB, two A100."""
    cluster = Cluster.objects.create(
        name=name, kind="kubernetes", server="https://k8s.example.org", **fields
    )
    node = Node.objects.create(
        cluster=cluster,
        name=f"{name}-1",
        cpu_count=8,
        memory_bytes=32 * GIB,
        ready_since=clock.now(),
    )
    NodeAccelerator.objects.create(node=node, kind="A100", count=2, resource="nvidia.com/gpu")
    return cluster


def capacity(**fields: Any) -> NodeCapacity:
    sizes = {"cpus": 4, "memory_bytes": 8 * GIB, "gpus": 1, **fields}
    return NodeCapacity(id=uuid4(), name="n1", **sizes)


def codes(answer: Any, field: str) -> list[str]:
    return [one["code"] for one in answer.json()["error_codes"][field]]


@pytest.mark.parametrize(
    ("offer", "demand", "fits", "code"),
    [
        (Offer("a", "ready", [capacity()]), Demand(1, GIB, 1), Fits.NOW, None),
        (Offer("a", "ready", []), Demand(1, GIB), Fits.NEVER, "jobs.cluster_empty"),
        (Offer("a", "ready", [capacity()]), Demand(1, GIB, 2), Fits.NEVER, "jobs.too_many_gpus"),
        (Offer("a", "ready", [capacity()]), Demand(5, GIB), Fits.NEVER, "jobs.too_many_cpus"),
        (
            Offer("a", "ready", [capacity(used_gpus=1)]),
            Demand(1, GIB, 1),
            Fits.LATER,
            "jobs.cluster_full",
        ),
        (
            Offer("a", "ready", [capacity()], taken=[Demand(1, GIB, 1)]),
            Demand(1, GIB, 1),
            Fits.LATER,
            "jobs.cluster_full",
        ),
        (
            Offer("a", "ready", [capacity(usable=False)]),
            Demand(1, GIB, 1),
            Fits.LATER,
            "jobs.cluster_closed",
        ),
        (
            Offer("a", "ready", [capacity(usable=False), capacity(gpus=0)]),
            Demand(1, GIB, 1),
            Fits.LATER,
            "jobs.cluster_closed",
        ),
        (
            Offer("a", "ready", [capacity(), capacity(usable=False)]),
            Demand(1, GIB, 1),
            Fits.NOW,
            None,
        ),
        (
            Offer("a", "ready", [capacity()], taken=[Demand(3, GIB, 1)]),
            Demand(1, GIB),
            Fits.NOW,
            None,
        ),
        (
            Offer("a", "draining", [capacity()]),
            Demand(9, GIB),
            Fits.NEVER,
            "jobs.cluster_draining",
        ),
        (
            Offer("a", "unreachable", [capacity()]),
            Demand(1, GIB),
            Fits.NEVER,
            "jobs.cluster_unreachable",
        ),
        (
            Offer("a", "unreachable", [], answered_at=datetime(2026, 11, 27, tzinfo=UTC)),
            Demand(1, GIB),
            Fits.NEVER,
            "jobs.cluster_unreachable_since",
        ),
        (
            Offer("a", "registering", [capacity()]),
            Demand(1, GIB),
            Fits.NEVER,
            "jobs.cluster_registering",
        ),
    ],
)
def test_a_cluster_is_judged(offer: Offer, demand: Demand, fits: Fits, code: str | None) -> None:
    verdict = judge(offer, demand)
    assert (verdict.fits, verdict.reason and str(verdict.reason.code)) == (fits, code)


@pytest.mark.parametrize(
    "text",
    [
        "python",
        "python:3.13-slim",
        "localhost:5000/team/train",
        "ghcr.io/a/b__c/d-e:v1@sha256:" + "a" * 64,
        "[2001:db8::1]:5000/train",
    ],
)
def test_references_of_images_are_taken(text: str) -> None:
    assert wrong_image(text) is None


@pytest.mark.parametrize(
    "text",
    ["Python", "a b", "train:", "train@sha256:12", "/train", "train\n", "a//b", "-a", "a" * 256],
)
def test_other_texts_are_no_images(text: str) -> None:
    assert wrong_image(text) is not None


def test_a_run_keeps_its_cluster_and_image(api: APIClient, project: Project) -> None:
    make_cluster()
    make_version(make_dataset(project, "digits"), {"a.png": "a"})
    body = {"command": ["x"], "datasets": {"d": "digits@v1"}, "requirements": "numpy==2.3.0\n"}
    place = {"cluster": "west", "image": "ghcr.io/team/train:1", "resources": {"gpus": 2}}
    answer = create(api, **body, **place)
    assert answer.status_code == 201, answer.json()
    run = answer.json()
    assert (run["cluster"], run["image"]) == ("west", "ghcr.io/team/train:1")
    # The requirements are built in the image.
    assert run["runtime"]["requirements"] == "numpy==2.3.0\n"
    assert [one["delivery"] for one in run["datasets"]] == ["stream"]
    copy = api.post(f"/api/v1/runs/{run['id']}/clone/", {"name": "again"}).json()
    assert (copy["cluster"], copy["image"]) == ("west", "ghcr.io/team/train:1")
    home = api.post(
        f"/api/v1/runs/{run['id']}/clone/", {"cluster": "", "resources": {"gpus": 0}}
    ).json()
    assert (home["cluster"], home["image"]) == (None, "")
    assert [one["delivery"] for one in home["datasets"]] == ["packs"]


@pytest.mark.parametrize("name", ["", "local"])
def test_own_machines_are_no_cluster(api: APIClient, name: str) -> None:
    answer = create(api, command=["x"], cluster=name)
    assert answer.status_code == 201, answer.json()
    assert (answer.json()["cluster"], answer.json()["runtime"]["state"]) == (None, "pending")


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"cluster": "nowhere"}, "cluster", "jobs.cluster_unknown"),
        ({"cluster": "others"}, "cluster", "jobs.cluster_unknown"),
        ({"cluster": "gone"}, "cluster", "jobs.cluster_unknown"),
        ({"cluster": "drained"}, "cluster", "jobs.cluster_draining"),
        ({"cluster": "away"}, "cluster", "jobs.cluster_unreachable"),
        ({"cluster": "new"}, "cluster", "jobs.cluster_registering"),
        ({"cluster": "west", "image": "No Image"}, "image", "jobs.image_invalid"),
        ({"image": "python:3.13"}, "image", "jobs.image_without_cluster"),
        (
            {"cluster": "west", "datasets": {"d": "digits@v1"}, "deliveries": {"d": "packs"}},
            "deliveries.d",
            "jobs.cluster_streams_only",
        ),
        ({"cluster": "west", "resources": {"gpus": 3}}, "resources.gpus", "jobs.too_many_gpus"),
    ],
)
def test_a_wrong_choice_is_refused_by_field(
    api: APIClient, project: Project, body: dict[str, Any], field: str, code: str
) -> None:
    make_version(make_dataset(project, "digits"), {"a.png": "a"})
    make_cluster()
    make_cluster("others", all_projects=False).projects.add(make_project("audio"))
    for name, state in (
        ("gone", "removed"),
        ("drained", "draining"),
        ("away", "unreachable"),
        ("new", "registering"),
    ):
        make_cluster(name, state=state)
    answer = create(api, command=["x"], **body)
    assert 400 <= answer.status_code < 500
    assert set(answer.json()["errors"]) == {field}
    assert codes(answer, field) == [code]
    assert not Run.objects.exists()


def test_a_cluster_of_others_is_not_told_from_none(api: APIClient) -> None:
    make_cluster("others", all_projects=False)
    hidden = create(api, command=["x"], cluster="others").json()["errors"]["cluster"][0]
    absent = create(api, command=["x"], cluster="absent").json()["errors"]["cluster"][0]
    assert hidden.replace("others", "absent") == absent


def test_the_preview_asks_the_chosen_cluster(api: APIClient) -> None:
    make_cluster()
    address = "/api/v1/projects/vision/runs/preview/"
    body = {"command": ["x"], "cluster": "west", "resources": {"gpus": 2}}
    preview = api.post(address, body).json()
    assert (preview["valid"], preview["outlook"]) == (True, "starts")
    assert preview["placement"]["cluster"] == "west"
    never = api.post(address, {**body, "resources": {"gpus": 3}}).json()
    assert (never["valid"], never["outlook"]) == (False, "never_fits")
    assert preview["placement"]["params"]["reason"] is None


def test_the_preview_says_why_a_cluster_takes_no_runs(api: APIClient) -> None:
    make_cluster(state="draining")
    address = "/api/v1/projects/vision/runs/preview/"
    preview = api.post(address, {"command": ["x"], "cluster": "west"}).json()
    assert preview["outlook"] == "never_fits"
    reason = preview["placement"]["params"]["reason"]
    assert reason["params"]["cluster"] == "west"
    assert "being drained" in preview["placement"]["why"]


def test_runs_are_found_by_their_cluster(api: APIClient, project: Project) -> None:
    there = make_run(project, cluster=make_cluster())
    here = make_run(project)
    make_run(project, origin=states.MLFLOW)
    runs = "/api/v1/projects/vision/runs/"
    for asked in ({"cluster": "west"}, {"search": "cluster:west"}):
        (row,) = api.get(runs, asked).json()["results"]
        assert (row["number"], row["cluster"]) == (there.number, "west")
    for asked in ({"cluster": "local"}, {"search": "cluster:local"}):
        (row,) = api.get(runs, asked).json()["results"]
        assert (row["number"], row["cluster"]) == (here.number, None)


def test_choices_say_when_there_is_room_and_for_how_much(api: APIClient, project: Project) -> None:
    west = make_cluster()
    AcceleratorPrice.objects.create(
        cluster=west, kind="A100", per_hour=Decimal("2.5"), currency="EUR"
    )
    make_cluster("others", all_projects=False)
    make_cluster("drained", state="draining")
    answer = api.get(CHOICES, {"gpus": 2, "memory_bytes": GIB})
    assert answer.status_code == 200, answer.json()
    own, drained, found = answer.json()["results"]
    assert (own["name"], own["kind"], own["fits"]) == ("local", "local", "never")
    assert own["reason"]["code"] == "jobs.too_many_gpus"
    assert (drained["fits"], drained["reason"]["code"]) == ("never", "jobs.cluster_draining")
    assert (found["name"], found["fits"], found["reason"]) == ("west", "now", None)
    assert found["accelerators"] == [{"kind": "A100", "total": 2, "free": 2, "reason": None}]
    assert found["prices"] == [{"kind": "A100", "per_hour": "2.5000", "currency": "EUR"}]
    make_run(project, cluster=west, gpus=1, state=states.RUNNING)
    later = api.get(CHOICES, {"gpus": 2, "memory_bytes": GIB}).json()["results"][2]
    assert (later["fits"], later["reason"]["code"]) == ("later", "jobs.cluster_full")
    assert later["accelerators"][0]["free"] == 1


def test_choices_refuse_what_is_no_amount(api: APIClient) -> None:
    assert set(api.get(CHOICES, {"cpus": 0}).json()["errors"]) == {"cpus"}


def test_choices_are_for_people_of_the_project(api: APIClient) -> None:
    make_project("audio")
    assert api.get("/api/v1/projects/audio/cluster-choices/").status_code == 404
