"""The kind of a run's accelerators: what may be chosen, what is refused, where the run goes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Cluster, Node, NodeAccelerator
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.models import Attempt, Placement, Rank, Run
from atom.jobs.runs.actions.explain import explain
from atom.jobs.scheduling.actions import in_clusters
from atom.jobs.scheduling.engines.accelerators import Catalog, NodeKind, Selector, catalog_of
from atom.jobs.scheduling.engines.placement import (
    Demand,
    Fleet,
    NodeCapacity,
    largest,
    never_fits,
    place,
)
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run
from tests.jobs.asking import create
from tests.jobs.runs.test_chosen_cluster import CHOICES, codes

pytestmark = pytest.mark.django_db

GIB = 1 << 30
N1, N2, N3 = (UUID(int=number) for number in (1, 2, 3))
PRODUCT = "nvidia.com/gpu.product"
A100 = Selector("nvidia.com/gpu", PRODUCT, "A100")
H100 = Selector("nvidia.com/gpu", PRODUCT, "H100")
AMD = Selector("amd.com/gpu")


def catalog(*rows: tuple[UUID, str, int, Selector]) -> Catalog:
    return catalog_of(NodeKind(*row) for row in rows)


def capacity(number: int, **kinds: int) -> NodeCapacity:
    name, gpus = f"n{number}", sum(kinds.values())
    return NodeCapacity(UUID(int=number), name, 4, 8 * GIB, gpus, kinds=kinds)


def code_of(found: Catalog, gpus: int, kind: str = "") -> str | None:
    refusal = found.refusal_of("west", Demand(1, GIB, gpus, kind))
    return refusal and str(refusal.code)


def test_kinds_of_one_resource_are_chosen_by_their_label_or_not_at_all() -> None:
    found = catalog((N1, "A100", 8, A100), (N2, "H100", 4, H100), (N3, "A100", 2, A100))
    assert {name: kind.total for name, kind in found.kinds.items()} == {"A100": 10, "H100": 4}
    assert found.selector_for(Demand(1, GIB, 1, "H100")) == H100
    assert H100.node_selector == {PRODUCT: "H100"}
    assert found.selector_for(Demand(1, GIB, 1)) == Selector("nvidia.com/gpu")
    assert (code_of(found, 1), code_of(found, 1, "A100")) == (None, None)


def test_several_resources_ask_for_a_kind() -> None:
    found = catalog((N1, "A100", 8, A100), (N2, "amd.com/gpu", 4, AMD))
    assert code_of(found, 1) == "jobs.accelerator_needed"
    assert code_of(found, 0) is None
    assert code_of(found, 1, "amd.com/gpu") is None
    assert found.selector_for(Demand(1, GIB, 1)) is None
    assert found.selector_for(Demand(1, GIB, 1, "amd.com/gpu")) == AMD


@pytest.mark.parametrize(
    ("kind", "gpus", "code"),
    [
        ("A100", 0, "jobs.accelerator_without_gpus"),
        ("V100", 1, "jobs.accelerator_unknown"),
        ("a100", 1, "jobs.accelerator_unknown"),
        ("T4", 1, "jobs.accelerator_without_resource"),
        ("nvidia.com/gpu", 1, "jobs.accelerator_not_selectable"),
    ],
)
def test_kinds_that_no_run_can_ask_for_are_refused(kind: str, gpus: int, code: str) -> None:
    found = catalog(
        (N1, "A100", 8, A100),
        (N2, "T4", 4, Selector("")),
        (N3, "nvidia.com/gpu", 2, Selector("nvidia.com/gpu")),
    )
    assert code_of(found, gpus, kind) == code
    assert found.selector_for(Demand(1, GIB, gpus, "T4")) is None
    assert found.choices == ["A100"]
    # Those without a resource are nobody's to ask for.
    assert dict(found.gpus) == {N1: 8, N3: 2}


def test_a_cluster_without_accelerators_says_so() -> None:
    assert code_of(Catalog(), 1, "A100") == "jobs.no_accelerators"
    assert Catalog().selector_for(Demand(1, GIB, 1)) is None


def test_of_two_ways_to_ask_for_a_kind_the_one_for_most_nodes_counts() -> None:
    slices = Selector("example.com/a100")
    found = catalog((N1, "A100", 2, slices), (N2, "A100", 8, A100), (N3, "A100", 9, Selector("")))
    assert (found.kinds["A100"].total, found.kinds["A100"].selector) == (8, A100)
    assert found.by_node == {N2: {"A100": 8}}


def test_a_kind_is_found_by_its_name_with_dashes_or_spaces() -> None:
    found = catalog((N1, "NVIDIA A100-SXM4-80GB", 8, Selector("gpu", "model", "x")))
    for spelled in ("NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"):
        kind = found.find(spelled)
        assert kind is not None
        assert kind.name == "NVIDIA A100-SXM4-80GB"


def test_a_node_of_another_kind_takes_nothing() -> None:
    nodes = [capacity(1, A100=8), capacity(2, H100=2)]
    assert [place(nodes, Demand(1, GIB, 2, kind)).node for kind in ("H100", "A100")] == [
        nodes[1],
        nodes[0],
    ]
    waiting = place(nodes, Demand(1, GIB, 3, "H100"))
    assert waiting.node is None
    assert "n2 lacks 1 GPU of the kind H100" in waiting.why
    assert waiting.params["nodes"][1]["accelerator"] == "H100"
    (refusal,) = never_fits(nodes, Demand(1, GIB, 3, "H100"))["resources.gpus"]
    assert "more than 2 GPUs of the kind H100" in refusal


def test_many_decisions_take_the_gpus_of_each_kind_once() -> None:
    fleet = Fleet([capacity(1, A100=2, H100=2), capacity(2, H100=1)])
    asked = ["H100", "H100", "H100", "H100", "A100", "A100", "A100"]
    found = [fleet.choose(Demand(0.1, 1, 1, kind)) for kind in asked]
    assert [one is not None for one in found] == [True, True, True, False, True, True, False]


def test_no_room_for_a_kind_says_nothing_about_another() -> None:
    some = Demand(1, GIB, 1)
    a100, h100 = (Demand(1, GIB, 1, kind) for kind in ("A100", "H100"))
    assert a100.is_at_least(some)
    assert a100.is_at_least(a100)
    assert not a100.is_at_least(h100)
    assert not some.is_at_least(a100)
    sizes = largest([capacity(1, A100=8), capacity(2, H100=8), capacity(3)])
    assert {(one.accelerator, one.gpus) for one in sizes} == {("A100", 8), ("H100", 8)}


def add_node(cluster: Cluster, name: str, kind: str, count: int, **how: str) -> Node:
    node = Node.objects.create(
        cluster=cluster,
        name=name,
        cpu_count=8,
        memory_bytes=32 * GIB,
        ready_since=clock.now(),
    )
    NodeAccelerator.objects.create(node=node, kind=kind, count=count, **how)
    return node


def labelled(product: str) -> dict[str, str]:
    return {"resource": "nvidia.com/gpu", "label_name": PRODUCT, "label_value": product}


@pytest.fixture
def west(db: None) -> Cluster:
    """Return a cluster of two products of one resource."""
    cluster = Cluster.objects.create(name="west", kind="kubernetes", server="https://k.example")
    add_node(cluster, "w1", "A100", 4, **labelled("A100"))
    add_node(cluster, "w2", "H100", 2, **labelled("H100"))
    return cluster


def ask(api: APIClient, **body: Any) -> Any:
    return create(api, command=["x"], cluster="west", **body)


def test_a_run_keeps_its_kind_and_copies_have_it(api: APIClient, west: Cluster) -> None:
    answer = ask(api, resources={"gpus": 2}, accelerator="A100")
    assert answer.status_code == 201, answer.json()
    run = answer.json()
    assert run["accelerator"] == "A100"
    address = f"/api/v1/runs/{run['id']}/clone/"
    assert api.post(address, {}).json()["accelerator"] == "A100"
    assert api.post(address, {"accelerator": "H100"}).json()["accelerator"] == "H100"
    assert api.post(address, {"accelerator": ""}).json()["accelerator"] == ""
    assert api.post(address, {"resources": {"gpus": 0}}).json()["accelerator"] == ""
    refused = api.post(address, {"resources": {"gpus": 0}, "accelerator": "A100"})
    assert codes(refused, "accelerator") == ["jobs.accelerator_without_gpus"]
    (row,) = api.get("/api/v1/projects/vision/runs/", {"search": "accelerator:H100"}).json()[
        "results"
    ]
    assert row["accelerator"] == "H100"


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"accelerator": "T4", "resources": {"gpus": 1}}, "accelerator", "accelerator_unknown"),
        ({"accelerator": "A100"}, "accelerator", "accelerator_without_gpus"),
        ({"accelerator": "H100", "resources": {"gpus": 3}}, "resources.gpus", "too_many_of_kind"),
        ({"resources": {"gpus": 5}}, "resources.gpus", "too_many_gpus"),
    ],
)
def test_a_wrong_kind_is_refused_by_field(
    api: APIClient, west: Cluster, body: dict[str, Any], field: str, code: str
) -> None:
    answer = ask(api, **body)
    assert 400 <= answer.status_code < 500
    assert set(answer.json()["errors"]) == {field}
    assert codes(answer, field) == [f"jobs.{code}"]
    if code == "accelerator_unknown":
        assert answer.status_code == 400
        assert "A100, H100" in answer.json()["errors"]["accelerator"][0]
    assert not Run.objects.exists()


@pytest.mark.parametrize("value", [7, None, ["A100"], {"a": 1}, "A" * 101, "A\0", True])
def test_values_that_are_no_kind_are_refused(api: APIClient, west: Cluster, value: object) -> None:
    answer = ask(api, accelerator=value, resources={"gpus": 1})
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == {"accelerator"}


def test_a_cluster_of_several_resources_asks_for_a_kind(api: APIClient, west: Cluster) -> None:
    add_node(west, "w3", "amd.com/gpu", 8, resource="amd.com/gpu")
    refused = ask(api, resources={"gpus": 1})
    assert codes(refused, "accelerator") == ["jobs.accelerator_needed"]
    assert "A100, H100, amd.com/gpu" in refused.json()["errors"]["accelerator"][0]
    assert ask(api).status_code == 201
    answer = ask(api, resources={"gpus": 8}, accelerator="amd.com/gpu")
    assert answer.status_code == 201, answer.json()


def test_choices_count_by_kind_what_runs_hold(
    api: APIClient, project: Project, west: Cluster
) -> None:
    placed = make_run(project, cluster=west, gpus=3, accelerator="A100", state=states.RUNNING)
    attempt = Attempt.objects.create(run=placed, number=1, state=states.RUNNING, cluster=west)
    Rank.objects.create(attempt=attempt, node=Node.objects.get(name="w1"))
    make_run(project, cluster=west, gpus=1, accelerator="H100", state=states.SUBMITTED)

    def look(**asked: Any) -> Any:
        answer = api.get(CHOICES, {"memory_bytes": GIB, **asked})
        assert answer.status_code == 200, answer.json()
        return answer.json()["results"][1]

    def free(choice: Any) -> dict[str, int | None]:
        return {one["kind"]: one["free"] for one in choice["accelerators"]}

    choice = look(gpus=2, accelerator="A100")
    assert (choice["fits"], choice["reason"]["code"]) == ("later", "jobs.cluster_full")
    assert free(choice) == {"A100": 1, "H100": 1}
    assert look(gpus=1, accelerator="A100")["fits"] == "now"
    assert look(gpus=2, accelerator="H100")["fits"] == "later"
    assert look(gpus=3, accelerator="H100")["reason"]["code"] == "jobs.too_many_of_kind"
    assert look(gpus=1, accelerator="T4")["reason"]["code"] == "jobs.accelerator_unknown"
    # Nothing says yet on which of the two a run is that names no kind.
    make_run(project, cluster=west, gpus=1, state=states.SUBMITTED)
    assert free(look()) == {"A100": None, "H100": None}
    Run.objects.update(state=states.SUCCEEDED)
    assert free(look()) == {"A100": 4, "H100": 2}


def test_choices_name_kinds_that_no_run_can_choose(api: APIClient, west: Cluster) -> None:
    add_node(west, "w3", "T4", 8)
    kinds = {one["kind"]: one for one in api.get(CHOICES).json()["results"][1]["accelerators"]}
    assert kinds["T4"]["reason"]["code"] == "jobs.accelerator_without_resource"
    assert (kinds["T4"]["total"], kinds["T4"]["free"], kinds["A100"]["reason"]) == (8, None, None)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"accelerator": "A100"}, "accelerator"),
        ({"accelerator": "A" * 101, "gpus": 1}, "accelerator"),
    ],
)
def test_choices_refuse_what_is_no_kind(api: APIClient, asked: Any, field: str) -> None:
    answer = api.get(CHOICES, asked)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {field})


def test_the_preview_judges_the_kind(api: APIClient, west: Cluster) -> None:
    address = "/api/v1/projects/vision/runs/preview/"
    body = {"command": ["x"], "cluster": "west", "resources": {"gpus": 2}}
    good = api.post(address, {**body, "accelerator": "H100"}).json()
    assert (good["valid"], good["outlook"]) == (True, "starts")
    wrong = api.post(address, {**body, "accelerator": "T4"}).json()
    assert (wrong["valid"], wrong["outlook"], set(wrong["errors"])) == (
        *(False, "never_fits"),
        {"accelerator"},
    )


def own_machine(model: str, gpus: int = 2) -> Node:
    """Return a second machine of Atom's own: the heartbeat of this one writes its own GPUs."""
    return Node.objects.create(
        cluster=ensure_local_node().cluster,
        name="gpu-box",
        cpu_count=8,
        memory_bytes=32 * GIB,
        gpu_count=gpus,
        gpu_model=model,
        gpu_ids=[f"GPU-{number}" for number in range(gpus)],
        heartbeat_at=clock.now(),
    )


def test_own_machines_have_the_models_of_their_gpus_as_kinds(
    api: APIClient, project: Project
) -> None:
    own_machine("NVIDIA A100")
    refused = create(api, command=["x"], resources={"gpus": 1}, accelerator="H100")
    assert codes(refused, "accelerator") == ["jobs.accelerator_unknown"]
    answer = create(api, command=["x"], resources={"gpus": 1}, accelerator="NVIDIA-A100")
    assert answer.status_code == 201, answer.json()
    assert answer.json()["accelerator"] == "NVIDIA A100"
    own = api.get(CHOICES, {"gpus": "1", "accelerator": "NVIDIA-A100"}).json()["results"][0]
    assert (own["fits"], own["accelerators"]) == (
        "now",
        [{"kind": "NVIDIA A100", "total": 2, "free": 2, "reason": None}],
    )


def test_own_machines_place_a_run_on_its_model_only(project: Project) -> None:
    node = own_machine("NVIDIA A100")
    other = make_run(project, gpus=1, accelerator="NVIDIA H100", priority=5)
    run = make_run(project, gpus=1, accelerator="NVIDIA A100")
    reconcile.tick()
    for one in (run, other):
        one.refresh_from_db()
    assert other.state == states.QUEUED
    assert run.attempts.get().node == node
    assert "GPU of the kind NVIDIA H100" in explain(other).reasons[-1].text


def test_a_run_waits_for_a_kind_that_its_cluster_has_no_longer(
    project: Project, west: Cluster
) -> None:
    run = make_run(project, cluster=west, gpus=1, accelerator="A100", state=states.QUEUED)
    Node.objects.filter(name="w1").delete()
    assert reconcile.advance(run.pk) == states.QUEUED
    run.refresh_from_db()
    why = explain(run)
    assert why.code == "cluster_away"
    assert why.reasons[0].params["sentence"]["code"] == "jobs.accelerator_unknown"
    add_node(west, "w4", "A100", 1, **labelled("A100"))
    assert reconcile.advance(run.pk) != states.QUEUED
    placement = run.placements.get()
    assert placement.accelerators == {"nvidia.com/gpu": 1}
    assert placement.node_selector == {PRODUCT: "A100"}


def test_runs_of_a_kind_that_is_gone_do_not_keep_others_waiting(
    project: Project, west: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_clusters, "AT_ONCE", 2)
    gone = [
        make_run(project, cluster=west, gpus=1, accelerator="T4", queued_at=clock.now())
        for _ in range(3)
    ]
    there = make_run(project, cluster=west, gpus=1, accelerator="A100", queued_at=clock.now())
    without = make_run(project, cluster=west, queued_at=clock.now())
    assert in_clusters.waiting_for_clusters() == [there.pk, without.pk]
    # A Job that was suspended may have pods again.
    Placement.objects.create(run=gone[0], cluster=west, namespace="jobs-vision")
    assert in_clusters.waiting_for_clusters()[0] == gone[0].pk
    NodeAccelerator.objects.filter(kind="A100").update(resource="")
    monkeypatch.setattr(in_clusters, "AT_ONCE", 9)
    assert there.pk not in in_clusters.waiting_for_clusters()


def test_a_move_judges_the_kind_in_the_other_cluster(project: Project, west: Cluster) -> None:
    east = Cluster.objects.create(name="east", kind="kubernetes", server="https://e.example")
    add_node(east, "e1", "MI300X", 8, resource="amd.com/gpu")
    run = make_run(project, cluster=west, gpus=2, accelerator="A100", state=states.QUEUED)
    client = APIClient()
    client.force_authenticate(make_member(project, "researcher"))

    def move(**body: Any) -> Any:
        return client.post(f"/api/v1/runs/{run.pk}/move/", {"cluster": "east", **body})

    assert codes(move(), "accelerator") == ["jobs.accelerator_unknown"]
    run.refresh_from_db()
    assert (run.cluster, run.accelerator) == (west, "A100")
    assert set(move(accelerator=["x"]).json()["errors"]) == {"accelerator"}
    answer = move(accelerator="MI300X")
    assert answer.status_code == 200, answer.json()
    assert (answer.json()["cluster"], answer.json()["accelerator"]) == ("east", "MI300X")
    back = client.post(f"/api/v1/runs/{run.pk}/move/", {"cluster": "west", "accelerator": ""})
    assert (back.json()["cluster"], back.json()["accelerator"]) == ("west", "")


def test_nodes_say_what_the_runs_there_hold(
    api: APIClient, project: Project, west: Cluster
) -> None:
    def begun(node: str, **fields: Any) -> Run:
        run = make_run(project, cluster=west, cpus=2, memory_bytes=GIB, **fields)
        Run.objects.filter(pk=run.pk).update(state=states.RUNNING)
        attempt = Attempt.objects.create(run=run, number=1, state=states.RUNNING, cluster=west)
        Rank.objects.create(attempt=attempt, node=Node.objects.get(name=node))
        return run

    def look() -> dict[str, tuple[dict[str, int], dict[str, int | None]]]:
        answers = [
            api.get("/api/v1/clusters/west/").json(),
            *(
                one
                for one in api.get("/api/v1/clusters/").json()["results"]
                if one["name"] == "west"
            ),
        ]
        found = [
            {
                node["name"]: (
                    node["used"],
                    {one["kind"]: one["used"] for one in node["accelerators"]},
                )
                for node in answer["nodes"]
            }
            for answer in answers
        ]
        assert found[0] == found[1]
        return found[0]

    nothing = {"cpus": 0, "memory_bytes": 0, "gpus": 0}
    assert look() == {"w1": (nothing, {"A100": 0}), "w2": (nothing, {"H100": 0})}
    named = begun("w1", gpus=1, accelerator="A100")
    begun("w1", gpus=2)
    begun("w2")
    held = {"cpus": 4, "memory_bytes": 2 * GIB, "gpus": 3}
    assert look() == {
        "w1": (held, {"A100": 3}),
        "w2": ({**nothing, "cpus": 2, "memory_bytes": GIB}, {"H100": 0}),
    }
    # A second kind on the node: the run that names none may hold either.
    NodeAccelerator.objects.create(
        node=Node.objects.get(name="w1"), kind="T4", count=4, resource="example.com/t4"
    )
    assert look()["w1"] == (held, {"A100": None, "T4": None})
    Rank.objects.exclude(attempt__run=named).update(ended_at=clock.now())
    assert look()["w1"][1] == {"A100": 1, "T4": 0}
    Attempt.objects.update(state=states.FAILED)
    assert look()["w1"][0] == nothing


def test_looking_at_clusters_costs_the_same_for_many_nodes(api: APIClient, west: Cluster) -> None:
    def look() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert api.get("/api/v1/clusters/").status_code == 200
        return len(queries)

    few = look()
    for number in range(10):
        add_node(west, f"more-{number}", "A100", 1, **labelled("A100"))
    assert look() == few
