"""The stand-in under the official client, under faults and with many objects."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import kubernetes.client
import kubernetes.config
import kubernetes.watch
import pytest
import urllib3
import yaml

from .kubernetes.cluster import ADMIN_TOKEN, Cluster
from .kubernetes.controllers.base import Recorder

Json = dict[str, Any]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(tls=True) as cluster:
        cluster.nodes.add("n1", {"nvidia.com/gpu": "4"})
        yield cluster


@pytest.fixture
def api(cluster: Cluster) -> Iterator[Any]:
    configuration: Any = kubernetes.client.Configuration()
    configuration.retries = False
    load: Any = kubernetes.config.load_kube_config_from_dict
    load(yaml.safe_load(cluster.kubeconfig()), client_configuration=configuration)
    with kubernetes.client.ApiClient(configuration) as client:
        yield client
        client.rest_client.pool_manager.clear()


@pytest.fixture
def core(api: Any) -> Any:
    return kubernetes.client.CoreV1Api(api)


def until(test: Callable[[], Any]) -> Any:
    end = time.monotonic() + 5
    while not (value := test()):
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.02)
    return value


def pod(name: str) -> Json:
    containers = [{"name": "main", "image": "train:1"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers}}


def config_map(name: str) -> Json:
    return {"metadata": {"name": name}}


def watched(core: Any, seconds: int = 1, **options: Any) -> list[str]:
    watch: Any = kubernetes.watch
    stream = watch.Watch().stream(
        core.list_namespaced_config_map, "default", timeout_seconds=seconds, **options
    )
    return [event["object"].metadata.name for event in stream]


def test_official_client_runs_a_job(cluster: Cluster, core: Any, api: Any) -> None:
    batch: Any = kubernetes.client.BatchV1Api(api)
    template = {"spec": {"restartPolicy": "Never", "containers": pod("x")["spec"]["containers"]}}
    spec = {"completions": 1, "completionMode": "Indexed", "template": template}
    batch.create_namespaced_job("default", {"metadata": {"name": "j"}, "spec": spec})
    (made,) = (item.metadata for item in until(lambda: core.list_namespaced_pod("default").items))
    cluster.pods.bind("default", made.name, "n1")
    core.patch_namespaced_pod_status(made.name, "default", {"status": {"phase": "Succeeded"}})
    job = until(lambda: batch.read_namespaced_job("j", "default").status.completion_time)
    assert job is not None


def test_a_followed_log_ends_with_its_container(cluster: Cluster, core: Any) -> None:
    uid = core.create_namespaced_pod("default", pod("p")).metadata.uid
    cluster.pods.bind("default", "p", "n1")
    cluster.logs.write(uid, "main", b"one\ntwo\n")
    answer = core.read_namespaced_pod_log("p", "default", follow=True, _preload_content=False)
    cluster.logs.write(uid, "main", b"three\n")
    cluster.logs.end(uid, "main")
    assert answer.read() == b"one\ntwo\nthree\n"
    assert core.read_namespaced_pod_log("p", "default", tail_lines=1) == "three\n"


def test_flow_control_refuses_with_a_time(cluster: Cluster, core: Any) -> None:
    cluster.faults.refuse(path="/configmaps")
    with pytest.raises(kubernetes.client.ApiException) as caught:
        core.list_namespaced_config_map("default")
    assert caught.value.status == 429
    assert (caught.value.headers or {})["Retry-After"] == "1"
    assert core.list_namespaced_config_map("default").items


@pytest.mark.parametrize("code", [500, 503, 504])
def test_a_request_fails_once(cluster: Cluster, core: Any, code: int) -> None:
    cluster.faults.refuse(code=code, method="POST")
    with pytest.raises(kubernetes.client.ApiException) as caught:
        core.create_namespaced_config_map("default", config_map("c"))
    assert caught.value.status == code
    core.create_namespaced_config_map("default", config_map("c"))


def test_a_lost_answer_leaves_the_write(cluster: Cluster, core: Any) -> None:
    cluster.faults.lose_response(method="POST")
    with pytest.raises(urllib3.exceptions.HTTPError):
        core.create_namespaced_config_map("default", config_map("c"))
    assert core.read_namespaced_config_map("c", "default").metadata.name == "c"


def test_a_slow_answer_passes_the_clients_patience(cluster: Cluster, core: Any) -> None:
    cluster.faults.slow(2, method="GET")
    with pytest.raises(urllib3.exceptions.HTTPError):
        core.list_namespaced_config_map("default", _request_timeout=0.2)


def test_a_dropped_watch_breaks_off(cluster: Cluster, core: Any) -> None:
    def drop() -> None:
        until(lambda: cluster.faults.open_watches)
        cluster.faults.drop_watches()

    thread = threading.Thread(target=drop)
    thread.start()
    with pytest.raises(urllib3.exceptions.HTTPError):
        watched(core, 5)
    thread.join()


def test_a_crashed_server_cuts_its_watches_and_keeps_what_was_stored(
    cluster: Cluster, core: Any
) -> None:
    core.create_namespaced_config_map("default", config_map("kept"))

    def crash() -> None:
        until(lambda: cluster.faults.open_watches)
        cluster.server.crash()

    thread = threading.Thread(target=crash)
    thread.start()
    with pytest.raises(urllib3.exceptions.HTTPError):
        watched(core, 5)
    thread.join()
    port = int(cluster.url.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()
    until(lambda: not cluster.faults.open_watches)
    cluster.server.start_again()
    assert "kept" in watched(core)


def test_a_silent_watch_delivers_after_it_is_lifted(cluster: Cluster, core: Any) -> None:
    cluster.faults.silence_watches()
    assert watched(core) == []
    cluster.faults.silence_watches(False)
    assert watched(core) == ["kube-root-ca.crt"]


def test_events_come_twice_and_in_another_order(cluster: Cluster, core: Any) -> None:
    names = [f"c{number}" for number in range(8)]
    version = core.list_namespaced_config_map("default").metadata.resource_version
    for name in names:
        core.create_namespaced_config_map("default", config_map(name))
    cluster.faults.duplicate_share = 1.0
    assert watched(core, resource_version=version) == [n for name in names for n in (name, name)]
    cluster.faults.duplicate_share = 0.0
    cluster.faults.reorder = True
    disturbed = watched(core, resource_version=version)
    assert disturbed != names
    assert sorted(disturbed) == names


def test_a_lost_node_marks_its_pods(cluster: Cluster, core: Any) -> None:
    core.create_namespaced_pod("default", pod("p"))
    cluster.pods.bind("default", "p", "n1")
    cluster.nodes.lose("n1")
    status = core.read_namespaced_pod("p", "default")
    reasons = {item.type: item.reason for item in status.status.conditions}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"
    assert status.metadata.deletion_timestamp
    cluster.nodes.bring_back("n1")
    assert not core.read_node("n1").spec.taints


def test_a_bound_token_ends_with_its_pod_and_its_time() -> None:
    now = datetime.now(UTC)
    moment = [now]
    with Cluster(clock=lambda: moment[0]) as cluster:
        until(lambda: cluster.store.get("serviceaccounts.", "default", "default"))
        cluster.create("pods.", pod("p"), "default")
        account = cluster.store.get("serviceaccounts.", "default", "default")
        bound = cluster.store.get("pods.", "default", "p")
        assert account is not None
        assert bound is not None
        token, _end = cluster.access.signer.make(
            "default", account, audiences=["atom"], seconds=600, pod=bound
        )
        review = cluster.access.review_token({"token": token, "audiences": ["atom"]})
        assert review["user"]["username"] == "system:serviceaccount:default:default"
        assert review["user"]["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]
        assert "error" in cluster.access.review_token({"token": token})
        moment[0] = now + timedelta(seconds=601)
        assert "error" in cluster.access.review_token({"token": token, "audiences": ["atom"]})
        moment[0] = now
        cluster.deletion.delete(cluster.machinery.kind("pods."), "default", "p")
        assert "error" in cluster.access.review_token({"token": token, "audiences": ["atom"]})


def test_ten_thousand_pods_and_a_watch(cluster: Cluster, core: Any) -> None:
    for number in range(10_000):
        cluster.create("pods.", pod(f"p{number:05}"), "default")
    page = core.list_namespaced_pod("default", limit=500)
    assert len(page.items) == 500
    assert page.metadata.remaining_item_count == 9_500
    answer = core.list_namespaced_pod(
        "default", watch=True, timeout_seconds=1, _preload_content=False
    )
    assert answer.data.count(b'"type":"ADDED"') == 10_000


# --- for kubectl, which no test needs ---


def test_kubectl_may_send_objects_that_only_the_server_validates(cluster: Cluster) -> None:
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    config = yaml.safe_load(cluster.kubeconfig())["clusters"][0]["cluster"]
    authority = base64.b64decode(config["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    pool = urllib3.PoolManager(ssl_context=context)
    answer = pool.request("GET", f"{cluster.url}/openapi/v2", headers=headers)
    assert answer.status == 200
    # Go's parser of media types refuses others, such as those with an `@`.
    assert answer.headers["Content-Type"].endswith("spec.v2.v1.0+protobuf")


@pytest.mark.parametrize(
    ("versions", "preferred"),
    [
        (["v1beta1", "v1beta2"], "v1beta2"),
        (["v1alpha2", "v1", "v2beta1"], "v1"),
        (["v2", "v10"], "v10"),
        (["odd", "v1alpha1"], "v1alpha1"),
    ],
)
def test_a_custom_group_prefers_its_most_stable_and_newest_version(
    cluster: Cluster, versions: list[str], preferred: str
) -> None:
    version = {"served": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    served = [version | {"name": one, "storage": one == versions[0]} for one in versions]
    names = {"plural": "queues", "kind": "Queue"}
    spec = {"group": "a.example", "names": names, "versions": served, "scope": "Namespaced"}
    cluster.machinery.registry.add_definition({"spec": spec})
    group = cluster.machinery.registry.group("a.example")
    assert group is not None
    assert group["preferredVersion"]["version"] == preferred


def test_a_node_names_the_last_sign_of_its_kubelet(cluster: Cluster, core: Any) -> None:
    def ready() -> Any:
        (condition,) = core.read_node("n1").status.conditions
        return condition

    heard = ready().last_heartbeat_time
    assert heard is not None
    cluster.nodes.lose("n1")
    assert (ready().status, ready().last_heartbeat_time) == ("Unknown", heard)


def test_events_of_one_second_are_listed_in_their_order(cluster: Cluster, core: Any) -> None:
    made = core.create_namespaced_pod("default", pod("p"))
    recorder = Recorder(cluster.machinery, "test")
    stored = cluster.store.get("pods.", "default", made.metadata.name)
    assert stored is not None
    reasons = ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    for reason in reasons:
        recorder.record(cluster.pods.resource, stored, "Normal", reason, "")
    assert [event.reason for event in core.list_namespaced_event("default").items] == reasons
