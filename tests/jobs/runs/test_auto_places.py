"""Runs whose place Atom chooses: at their start, while they wait, and as it is kept."""

# ruff: noqa: F811 - parameters take the name of their fixture
from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import beat_local_node
from atom.clusters.errors import ClusterNameTaken
from atom.clusters.models import AcceleratorPrice, Cluster, Node
from atom.clusters.registration.actions.registering import (
    ClusterOptions,
    Credentials,
    register,
)
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import reconcile, states
from atom.jobs.models import PlacementDecision, Run
from atom.jobs.runs.actions.auto_places import place_waiting
from atom.jobs.runs.actions.explain import explain
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.jobs.asking import create
from tests.jobs.runs.test_placement_preview import (
    ask,
    hold,
    make_cluster,
    version,  # noqa: F401 - a fixture
)

pytestmark = pytest.mark.django_db

COMMAND = ["python", "train.py"]


def start(api: APIClient, **body: Any) -> dict[str, Any]:
    """Start a run that Atom places; return it."""
    gpus = body.pop("gpus", 8)
    answer = create(api, command=COMMAND, cluster="auto", resources={"gpus": gpus}, **body)
    assert answer.status_code == 201, answer.json()
    made: dict[str, Any] = answer.json()
    return made


def stored(made: dict[str, Any]) -> Run:
    return Run.objects.select_related("cluster", "project", "runtime").get(pk=made["id"])


def set_price(cluster: Cluster, per_hour: str) -> None:
    AcceleratorPrice.objects.filter(cluster=cluster).update(per_hour=per_hour)


def fill(cluster: Cluster, project: Project) -> Run:
    """Let a run hold all of the accelerators of a cluster."""
    return make_run(project, cluster=cluster, gpus=8, state=states.RUNNING)


def test_the_run_goes_where_the_preview_says(
    api: APIClient,
    version: Version,
) -> None:
    make_cluster("a", "2.00")
    hold(make_cluster("b", "2.10"), version, 0.83)
    preview = ask(api, inputs={"d": "digits@v1"}, command=COMMAND)
    made = start(api, datasets={"d": "digits@v1"})
    assert (made["cluster"], preview["chosen"]) == ("b", "b")
    decision = made["placement_decision"]
    assert (decision["chosen"], decision["by"], decision["why"]) == ("b", "auto", preview["why"])
    assert decision["candidates"] == preview["candidates"]
    assert decision["assumed"]["start_s"] == preview["candidates"][0]["start"]
    assert decision["assumed"]["cost"] == preview["candidates"][0]["price"]["total"]
    assert set(decision["came"].values()) == {None}
    assert [part["delivery"] for part in made["datasets"]] == ["stream"]


def test_own_machines_are_a_place_for_a_run_on_one_node_without_an_image(
    api: APIClient,
    version: Version,
) -> None:
    beat_local_node()
    made = start(api, gpus=0, datasets={"d": "digits@v1"})
    assert (made["cluster"], made["placement_decision"]["chosen"]) == (None, "local")
    assert [part["delivery"] for part in made["datasets"]] == ["packs"]
    image = start(api, gpus=0, image="python:3.13")
    assert (image["cluster"], image["placement_decision"]["chosen"]) == (None, None)


def test_a_run_that_fits_nowhere_waits_with_the_first_reason_of_each_place(
    api: APIClient,
) -> None:
    beat_local_node()
    small = make_cluster("small", "2", gpus=4)
    made = start(api)
    assert made["state"] == "queued"
    decision = made["placement_decision"]
    assert (decision["chosen"], decision["why"], decision["assumed"]) == (None, None, None)
    reconcile.tick()
    run = stored(made)
    assert (run.state, run.cluster, run.has_place) == (states.QUEUED, None, False)
    explained = explain(run)
    assert explained.code == "no_place"
    reasons = {reason.params["place"]: reason.params["sentence"]["code"] for reason in
               explained.reasons}  # fmt: skip
    assert reasons == {"local": "jobs.too_many_gpus", "small": "jobs.too_many_gpus"}
    Node.objects.filter(cluster=small).first().accelerators.update(count=8)  # type: ignore[union-attr]
    assert place_waiting() == [run.pk]
    run = stored(made)
    assert (run.cluster, run.has_place) == (small, True)


@pytest.mark.parametrize(("west", "east", "place"), [("9.5", "10", "east"), ("8", "10", "west")])
def test_the_choice_of_a_waiting_run_moves_only_for_ten_percent(
    api: APIClient, project: Project, west: str, east: str, place: str
) -> None:
    clusters = {name: make_cluster(name, "10") for name in ("east", "west")}
    set_price(clusters["west"], "20")
    made = start(api)
    assert made["cluster"] == "east"
    set_price(clusters["west"], west)
    set_price(clusters["east"], east)
    place_waiting()
    assert stored(made).cluster == clusters[place]
    kept = PlacementDecision.objects.get(run=made["id"])
    assert (kept.chosen, kept.attempt) == (place, None)


@pytest.mark.parametrize("change", ["unreachable", "draining", "removed", "too small"])
def test_a_run_leaves_a_place_that_became_never(api: APIClient, change: str) -> None:
    east = make_cluster("east", "1")
    west = make_cluster("west", "20")
    made = start(api)
    assert made["cluster"] == "east"
    if change == "too small":
        east.nodes.get().accelerators.update(count=4)
    else:
        Cluster.objects.filter(pk=east.pk).update(state=change)
    assert place_waiting() == [stored(made).pk]
    run = stored(made)
    assert run.cluster == west
    kinds = list(run.events.order_by("id").values_list("kind", flat=True))
    assert kinds[-1] == "place_chosen"


def test_a_run_without_any_place_left_waits_and_is_not_placed_on_own_machines(
    api: APIClient,
) -> None:
    beat_local_node()
    cluster = make_cluster("east", "1")
    made = start(api, gpus=0, image="python:3.13")
    Cluster.objects.filter(pk=cluster.pk).update(state="unreachable")
    reconcile.tick()
    run = stored(made)
    assert (run.state, run.cluster, run.has_place) == (states.QUEUED, None, False)


def test_a_run_waits_in_atom_while_its_cluster_is_full_and_then_in_the_cluster(
    api: APIClient, project: Project
) -> None:
    cluster = make_cluster("east", "1")
    holding = fill(cluster, project)
    made = start(api)
    assert place_waiting() == []
    assert explain(stored(made)).code == "auto_waits"
    Run.objects.filter(pk=made["id"]).update(queued_at=clock.now() - timedelta(minutes=11))
    assert place_waiting() == [stored(made).pk]
    Run.objects.filter(pk=made["id"]).update(queued_at=clock.now())
    Run.objects.filter(pk=holding.pk).update(state=states.SUCCEEDED)
    assert place_waiting() == [stored(made).pk]


def test_two_runs_never_get_the_room_of_one(api: APIClient) -> None:
    make_cluster("east", "1")
    first, second = start(api), start(api)
    assert place_waiting() == [stored(first).pk]
    assert stored(second).state == states.QUEUED


def test_a_second_round_changes_nothing(api: APIClient) -> None:
    make_cluster("east", "1")
    made = start(api)
    assert place_waiting() == place_waiting()
    assert PlacementDecision.objects.filter(run=made["id"]).count() == 1
    before = stored(made).updated_at
    place_waiting()
    assert stored(made).updated_at == before


def test_the_decision_follows_the_attempt_and_a_person_s_choice_is_kept_too(
    api: APIClient, project: Project
) -> None:
    make_cluster("east", "1")
    make_cluster("west", "2")
    made = start(api)
    reconcile.tick()
    run = stored(made)
    attempt = run.attempts.get()
    assert PlacementDecision.objects.get(run=run).attempt == attempt
    answer = create(api, command=COMMAND, cluster="west", resources={"gpus": 8})
    reconcile.tick()
    decision = api.get(f"/api/v1/runs/{answer.json()['id']}/").json()["placement_decision"]
    assert (decision["chosen"], decision["by"], decision["why"]) == ("west", "person", None)
    assert [(one["name"], one["fits"]) for one in decision["candidates"]] == [
        ("west", "now"), ("east", "later"), ("local", "never"),
    ]  # fmt: skip
    assert decision["assumed"]["cost"] == "16.00"


def test_the_times_of_own_machines_come_with_the_attempt(api: APIClient) -> None:
    beat_local_node()
    made = create(api, command=COMMAND).json()
    assert made["placement_decision"] is None
    reconcile.tick()
    run = stored(made)
    attempt = run.attempts.get()
    now = clock.now()
    attempt.started_at, attempt.finished_at = now, now + timedelta(seconds=30)
    attempt.save()
    decision = api.get(f"/api/v1/runs/{run.pk}/").json()["placement_decision"]
    assert (decision["chosen"], decision["by"]) == ("local", "person")
    assert [one["name"] for one in decision["candidates"]] == ["local"]
    assert decision["candidates"][0]["fits"] == "now"
    assert decision["came"]["run_s"] == 30
    assert decision["came"]["cost"] == "0.00"


@pytest.mark.parametrize(
    "name", ["AUTO", "Auto", "auto ; drop", "auto/", "aut\u043e", "../auto", "auto%00"]
)
def test_names_like_it_are_those_of_clusters(api: APIClient, name: str) -> None:
    answer = create(api, command=COMMAND, cluster=name)
    assert answer.status_code == 400
    assert answer.json()["error_codes"]["cluster"][0]["code"] == "jobs.cluster_unknown"


def test_no_cluster_may_be_called_so(project: Project) -> None:
    with pytest.raises(ClusterNameTaken):
        register("auto", Credentials(), ClusterOptions(), make_user(is_superuser=True))


def test_the_place_decides_how_the_data_comes(
    api: APIClient,
    version: Version,
) -> None:
    make_cluster("east", "1")
    data = {"datasets": {"d": "digits@v1"}}
    answer = create(api, command=COMMAND, cluster="auto", deliveries={"d": "mount"}, **data)
    assert answer.json()["error_codes"]["deliveries.d"][0]["code"] == "jobs.auto_delivers"
    assert start(api, deliveries={"d": "stream"}, **data)["datasets"][0]["delivery"] == "stream"


def test_a_copy_is_placed_by_atom_too_unless_a_place_is_named(api: APIClient) -> None:
    beat_local_node()
    make_cluster("east", "1")
    made = start(api, accelerator="A100")
    copy = api.post(f"/api/v1/runs/{made['id']}/clone/", {}).json()
    assert copy["placement_decision"]["by"] == "auto"
    named = api.post(f"/api/v1/runs/{made['id']}/clone/", {"cluster": "east"}).json()
    assert (named["cluster"], named["placement_decision"]) == ("east", None)
    back = api.post(f"/api/v1/runs/{named['id']}/clone/", {"cluster": "auto"}).json()
    assert back["placement_decision"]["chosen"] == "east"


def test_many_runs_in_one_round_read_places_once(api: APIClient, version: Version) -> None:
    for number in range(3):
        hold(make_cluster(f"c{number}", "2", gpus=64), version, 0.1 * number)
    for _ in range(2):
        start(api, datasets={"d": "digits@v1"})
    with CaptureQueriesContext(connection) as few:
        place_waiting()
    for _ in range(6):
        start(api, datasets={"d": "digits@v1"})
    with CaptureQueriesContext(connection) as many:
        place_waiting()
    assert len(few) == len(many)


@pytest.mark.parametrize("_", range(3))
def test_any_order_of_places_gives_the_preview_s_first(
    api: APIClient, version: Version, _: int
) -> None:
    random = Random(_)
    names = ["a", "b", "c", "d"]
    random.shuffle(names)
    for name in names:
        price = random.choice(["1.00", "1.02", "2.00"])
        hold(make_cluster(name, price), version, random.random())
    preview = ask(api, inputs={"d": "digits@v1"}, command=COMMAND)
    made = start(api, datasets={"d": "digits@v1"})
    assert made["cluster"] == preview["chosen"] == preview["candidates"][0]["name"]


def test_a_run_of_somebody_who_is_gone_keeps_to_the_clusters_of_its_project(
    api: APIClient, project: Project
) -> None:
    make_cluster("east", "1")
    closed = make_cluster("closed", "0.01")
    Cluster.objects.filter(pk=closed.pk).update(all_projects=False)
    made = start(api)
    Run.objects.filter(pk=made["id"]).update(created_by=None)
    place_waiting()
    assert stored(made).cluster.name == "east"  # type: ignore[union-attr]
    closed.projects.add(project)
    place_waiting()
    assert stored(made).cluster == closed


def test_a_run_moves_to_the_best_registered_cluster(api: APIClient) -> None:
    make_cluster("east", "2")
    west = make_cluster("west", "1")
    named = create(api, command=COMMAND, cluster="east", resources={"gpus": 8}).json()
    moved = api.post(f"/api/v1/runs/{named['id']}/move/", {"cluster": "auto"})
    assert (moved.status_code, moved.json()["cluster"]) == (200, "west")
    run = stored(named)
    assert (run.cluster, run.auto_request["accelerator"]) == (west, "")  # type: ignore[index]
    again = api.post(f"/api/v1/runs/{named['id']}/move/", {"cluster": "auto"})
    assert again.json()["error_codes"]["cluster"][0]["code"] == "jobs.move_same_cluster"
    back = api.post(f"/api/v1/runs/{named['id']}/move/", {"cluster": "east"})
    assert (back.status_code, stored(named).auto_request) == (200, None)
    Cluster.objects.filter(server__gt="").update(state="draining")
    nowhere = api.post(f"/api/v1/runs/{named['id']}/move/", {"cluster": "auto"})
    assert nowhere.json()["error_codes"]["cluster"][0]["code"] == "jobs.move_nowhere"


def test_the_forecast_of_a_run_without_a_place_is_that_it_waits(api: APIClient) -> None:
    make_cluster("small", gpus=4)
    body = {"command": COMMAND, "cluster": "auto", "resources": {"gpus": 8}}
    forecast = api.post("/api/v1/projects/vision/runs/preview/", body).json()
    assert (forecast["valid"], forecast["outlook"]) == (True, "waits")
    assert forecast["placement"]["code"] == "no_place"
    queue = api.get("/api/v1/projects/vision/queue/")
    assert queue.status_code == 200
    start(api)
    queue = api.get("/api/v1/projects/vision/queue/").json()
    assert queue["waiting"][0]["explanation"]["code"] == "no_place"


def test_a_kind_without_gpus_is_refused(api: APIClient) -> None:
    answer = create(api, command=COMMAND, cluster="auto", accelerator="A100")
    assert answer.json()["error_codes"]["accelerator"][0]["code"] == (
        "jobs.accelerator_without_gpus"
    )
