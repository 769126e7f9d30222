"""One test per transcript: what the API server answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.fakes.kubernetes.cluster import DEFINITIONS
from tests.fakes.kubernetes.paging import Token

from .replay import Replay
from .transcripts import FOLDER, load
from .worlds import World, definitions, server

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the transcripts stand outside of the repository"
)


@pytest.fixture
def world() -> Iterator[World]:
    """A server without objects, and the node on which the recorder's pods stood."""
    with server() as world:
        yield world


def check(replay: Replay, compared: int) -> None:
    """Assert that nothing differs and that this many answers were compared."""
    assert not replay.faults, "\n".join(replay.faults)
    # A real server cannot be told to forget its history or to refuse a user.
    assert replay.compared + replay.left_out == compared


def add_namespace(replay: Replay, name: str = "rec") -> None:
    body = {"metadata": {"name": name}}
    assert replay.world.ask("POST", "/api/v1/namespaces", body).status == 201


JOB = "/apis/batch/v1/namespaces/rec/jobs"
PODS = "/api/v1/namespaces/rec/pods"


def schedule(replay: Replay, job: str) -> None:
    """Wait for both pods of a Job and put them on the recorder's node."""
    query = f"{PODS}?labelSelector=batch.kubernetes.io/job-name={job}"
    pods: list[Json] = replay.wait_for(query, lambda body: len(body["items"]) == 2)["items"]
    for pod in pods:
        replay.bind("rec", pod["metadata"]["name"], "localhost")
    replay.wait_for(f"{JOB}/{job}", lambda body: body["status"].get("active") == 2)


def need_controllers(replay: Replay) -> None:
    """Skip where no controller manager runs: the recording had one."""
    if not replay.world.controllers:
        pytest.skip("no controllers run beside this server")


def test_discovery(world: World) -> None:
    replay = Replay(world)
    replay.run(load("discovery"))
    check(replay, 9)


def test_create_and_errors(world: World) -> None:
    replay = Replay(world)
    need_controllers(replay)
    replay.before["pods that the controller made"] = lambda: schedule(replay, "at-1")
    replay.run(load("create-and-errors"))
    check(replay, 19)


def first_job(replay: Replay) -> None:
    """Make what the second file presupposes: the namespace, the Job and its pods on a node."""
    need_controllers(replay)
    lines = {line.note: line for line in load("create-and-errors")}
    add_namespace(replay)
    created = lines["create a job"]
    replay.match(created.response, replay.send(created).body)
    pods = lines["pods that the controller made"]
    schedule(replay, "at-1")
    replay.match(pods.response, replay.send(pods).body)


def test_update_patch_apply(world: World) -> None:
    replay = Replay(world)
    first_job(replay)
    replay.run(load("update-patch-apply"))
    check(replay, 19)


CONFIG_MAPS = "/api/v1/namespaces/rec/configmaps"


def config_maps(replay: Replay) -> None:
    """Make the config maps that the lists show."""
    bodies: list[Json] = [
        {"metadata": {"name": "ap"}, "data": {"z": "9"}},
        {"metadata": {"name": "c"}, "data": {"b": "x", "c": "y"}},
        # One distribution adds this one to each namespace.
        {
            "metadata": {
                "name": "openshift-service-ca.crt",
                "annotations": {"service.beta.openshift.io/inject-cabundle": "true"},
            },
            "data": {"service-ca.crt": ""},
        },
    ]
    for number in range(7):
        labels = {"n": str(number), "even": str(number % 2 == 0).lower()}
        bodies.append({"metadata": {"name": f"p{number}", "labels": labels}})
    for body in bodies:
        assert replay.world.ask("POST", CONFIG_MAPS, body).status == 201
    replay.wait_for(CONFIG_MAPS, lambda body: len(body["items"]) == 11)


def fail_first_pod(replay: Replay) -> None:
    """End the first pod as the file before did."""
    for line in load("update-patch-apply"):
        if line.note.startswith("status subresource"):
            replay.send(line)
    replay.wait_for(f"{JOB}/at-1", lambda body: body["status"].get("failed") == 2)


def write_w(replay: Replay) -> None:
    """Do while the watch is open what its events show."""
    ask, merge = replay.world.ask, "application/merge-patch+json"
    ask("POST", CONFIG_MAPS, {"metadata": {"name": "w", "labels": {"even": "true"}}})
    path = f"{CONFIG_MAPS}/w"
    ask("PATCH", path, {"data": {"x": "1"}}, content_type=merge)
    ask("PATCH", path, {"metadata": {"labels": {"even": "false"}}}, content_type=merge)
    ask("DELETE", path)


def test_list_select_page_watch(world: World) -> None:
    replay = Replay(world)
    first_job(replay)
    fail_first_pod(replay)
    config_maps(replay)
    lines = load("list-select-page-watch")
    first = "watch from a resourceVersion: added, modified, deleted"
    replay.meanwhile[first] = lambda: write_w(replay)
    if world.cluster:
        # The recorder's server had forgotten its first events.
        cluster, gone = world.cluster, "watch from a resourceVersion that is gone"
        replay.before[gone] = lambda: cluster.store.forget_events(50)
    replay.run(lines)
    check(replay, 22)


def at_2(replay: Replay) -> None:
    """Make the second Job, which the recorder made before it deleted it."""
    (line,) = [line for line in load("create-and-errors") if line.note == "create a job"]
    body = json.loads(json.dumps(line.body).replace("at-1", "at-2"))
    if replay.world.cluster:
        # The recorder read the Job before its controller gathered the change of its pods.
        replay.world.cluster.jobs.batch_seconds = 1.0
    created = replay.world.ask("POST", JOB, body)
    assert created.status == 201
    replay.names.learn({"metadata": {"uid": AT_2}}, created.body)
    schedule(replay, "at-2")


AT_2 = "14d8143a-bd9a-4d0f-ad23-e58717dd0578"


def hold_p2(replay: Replay) -> None:
    """Give one config map the finalizer that the recorder gave it."""
    body = {"metadata": {"finalizers": ["atom.dev/logs"]}}
    path = f"{CONFIG_MAPS}/p2"
    merge = "application/merge-patch+json"
    assert replay.world.ask("PATCH", path, body, content_type=merge).status == 200


def test_delete_finalizers_owners(world: World) -> None:
    replay = Replay(world)
    first_job(replay)
    fail_first_pod(replay)
    config_maps(replay)
    for line in load("list-select-page-watch"):
        if line.note == "label selector even":
            replay.match(line.response, replay.send(line).body)
    replay.before["delete a job, foreground"] = lambda: at_2(replay)
    replay.before["delete what has a finalizer"] = lambda: hold_p2(replay)
    replay.run(load("delete-finalizers-owners"))
    check(replay, 13)


@pytest.mark.skipif(not DEFINITIONS.exists(), reason="the definitions stand outside")
def test_custom_resources(world: World) -> None:
    replay = Replay(world)
    add_namespace(replay)
    with definitions(world, DEFINITIONS):
        replay.run(load("custom-resources"))
    check(replay, 12)


def test_access(world: World) -> None:
    replay = Replay(world)
    add_namespace(replay)
    accounts = "/api/v1/namespaces/rec/serviceaccounts"
    assert world.ask("POST", accounts, {"metadata": {"name": "runner"}}).status == 201
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = world.ask("POST", f"{accounts}/runner/token", body).body["status"]["token"]
    replay.headers = {
        "no credentials": dict,
        "a token that is nonsense": lambda: {"Authorization": "Bearer nonsense"},
        "a service account without rights": lambda: {"Authorization": f"Bearer {token}"},
    }
    replay.run(load("access"))
    check(replay, 5)


def limits_scene(replay: Replay) -> None:
    """Make the users, nodes and namespaces of the second recording."""
    need_controllers(replay)
    world = replay.world
    if world.cluster:
        access = world.cluster.access
        world.tokens["atom"] = access.add_user("atom", uid="a2", groups=("atom",))
        world.tokens["flood"] = access.add_user("flood")
    for name in ("lim", "ssa", "lease", "eviction-and-pdb", "acc", "resource-k8s-io-v1"):
        add_namespace(replay, name)
    enforce, warn = (f"pod-security.kubernetes.io/{mode}" for mode in ("enforce", "warn"))
    for name, level in (("psa-warn", ""), ("psa-enforce", "restricted"), ("psa-base", "baseline")):
        labels = {warn: "restricted"} | ({enforce: level} if level else {})
        body = {"metadata": {"name": name, "labels": labels}}
        assert world.ask("POST", "/api/v1/namespaces", body).status == 201


def running_job(replay: Replay) -> None:
    """Make the Job with two running pods, as they were left by the first scenario."""
    add_namespace(replay, "job-success")
    lines = load("jobs")
    replay.send(lines[0])
    path = "/api/v1/namespaces/job-success/pods"
    pods = replay.wait_for(path, lambda body: len(body["items"]) == 2)["items"]
    replay.names.texts["at-1-0-whvf2"] = pods[0]["metadata"]["name"]


def old_scene(replay: Replay) -> None:
    """Make the objects of the namespace whose history is compacted."""
    world, path = replay.world, "/api/v1/namespaces/old/configmaps"
    add_namespace(replay, "old")
    replay.wait_for(path, lambda body: len(body["items"]) == 1)
    for name in ("c0", "k0", "k1", "k2", "k3", "k4"):
        made = world.ask("POST", path, {"metadata": {"name": name}}).body
        replay.names.versions[OLD[name]] = made["metadata"]["resourceVersion"]


OLD = {"c0": "1077", "k0": "1079", "k1": "1081", "k2": "1082", "k3": "1083", "k4": "1084"}


def evicted_pods(replay: Replay) -> None:
    """Put both pods on a node and let them run, as the watch of the scenario shows."""
    namespace = "eviction-and-pdb"
    path = f"/api/v1/namespaces/{namespace}/pods"
    pods = replay.wait_for(path, lambda body: len(body["items"]) == 2)["items"]
    for pod, recorded in zip(pods, ("at-1-0-q8jmj", "at-1-1-7nvfh"), strict=True):
        name = pod["metadata"]["name"]
        replay.names.texts[recorded] = name
        replay.bind(namespace, name, "n4")
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        replay.world.ask(
            "PATCH",
            f"{path}/{name}/status",
            {"status": status},
            content_type="application/strategic-merge-patch+json",
        )


def too_big(replay: Replay) -> None:
    """Send what is over the limits; the recording names these bodies and does not show them."""
    lines = {line.note: line for line in load("limits") if line.scenario == "misc-answers"}
    config_map, job = "/api/v1/namespaces/lim2/configmaps", "/apis/batch/v1/namespaces/lim2/jobs"
    add_namespace(replay, "lim2")
    (plain,) = [line for line in load("create-and-errors") if line.note == "create a job"]
    big_job = plain.body | {"metadata": {"name": "big", "annotations": {"a": "x" * 300_000}}}
    bodies: list[tuple[str, str, Json]] = [
        ("a config map of 1.1 MB", config_map, {"data": {"a": "x" * 1_100_000}}),
        ("a config map of 3.3 MB", config_map, {"data": {"a": "x" * 3_300_000}}),
        ("annotations over 256 KiB", job, big_job),
    ]
    for note, path, body in bodies:
        reply = replay.world.ask("POST", path, {"metadata": {"name": "big"}} | body)
        line = lines[note]
        assert reply.status == line.status
        replay.faults += replay.match(line.response, reply.body)
        replay.compared += 1


def observed(replay: Replay, key: str, number: int) -> None:
    """Wait until the budget's controller has counted: the recorder's had."""
    path = "/apis/policy/v1/namespaces/eviction-and-pdb/poddisruptionbudgets/b"
    replay.wait_for(path, lambda body: body["status"][key] == number)


def deployment_controller(replay: Replay, later: bool) -> None:
    """Write what the controller of Deployments wrote; the stand-in has none."""
    times = {"lastTransitionTime": "2026-11-25T15:36:13Z", "lastUpdateTime": "2026-11-25T15:36:13Z"}
    kinds = ("Progressing", "Available") if later else ("Progressing",)
    status: Json = {
        "conditions": [
            {"type": kind, "status": "True", "reason": "x", "message": "x"} | times
            for kind in kinds
        ]
    }
    if later:
        numbers = ("observedGeneration", "terminatingReplicas", "unavailableReplicas")
        status |= dict.fromkeys(numbers, 1)
    annotations = {"deployment.kubernetes.io/revision": "1"}
    reply = replay.world.ask(
        "PATCH",
        "/apis/apps/v1/namespaces/ssa/deployments/d/status",
        {"metadata": {"annotations": annotations}, "status": status},
        query={"fieldManager": "kube-controller-manager"},
        content_type="application/merge-patch+json",
    )
    assert reply.status == 200


def test_limits(world: World) -> None:
    replay = Replay(world, part=True)
    limits_scene(replay)
    running_job(replay)
    too_big(replay)
    before, seconds = replay.before, replay.seconds
    before["a budget: minAvailable 2"] = lambda: evicted_pods(replay)
    for note, key, number in (
        ("evict before the budget was observed: 429", "currentHealthy", 2),
        ("evict one: 201", "disruptionsAllowed", 1),
        ("evict the other at once: 429", "currentHealthy", 1),
    ):
        before[note] = partial(observed, replay, key, number)
    stays = "apply by atom without that field: no conflict, it stays"
    before[stays] = lambda: deployment_controller(replay, later=False)
    before["the same by force"] = lambda: deployment_controller(replay, later=True)
    quiet, page = (
        line.note
        for line in load("limits")
        if line.note.startswith(("watch with allowWatchBookmarks", "list page 2"))
    )
    before[quiet] = lambda: old_scene(replay)
    seconds[quiet] = "3"
    if cluster := world.cluster:
        cluster.application.bookmark_seconds = 1.2
        before["one of 40 lists at once: 429"] = lambda: cluster.faults.refuse(user="flood")

        def compact() -> None:
            version = int(replay.names.versions[OLD["k4"]])
            replay.names.texts[PAGE_2] = Token(version, "/k0").text()
            cluster.store.compact()

        before[page] = compact
    replay.run(load("limits"))
    check(replay, 127)


# The recorder's token for its second page.
PAGE_2 = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTA4NCwic3RhcnQiOiIvazBcdTAwMDAifQ"
