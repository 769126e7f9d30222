"""The profile of a cluster: the values it takes, who reads and writes it, and what it causes."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, User
from atom.clusters.models import Cluster, ClusterProfile
from atom.clusters.registration.actions.profiles import RdmaResult, note_rdma
from atom.clusters.registration.actions.registering import check_now, remove
from atom.clusters.registration.actions.stored_profiles import image_credentials
from atom.clusters.registration.engines.profile_values import is_qualified, needs_rdma
from atom.clusters.registration.engines.profiles import (
    PodProfile,
    Profile,
    RdmaNeed,
    build_profile_of,
    pod_profile_of,
    shown_limit,
)
from atom_sdk.sentences import Sentence
from tests.clusters.answers import Answers, finding, node, registered
from tests.clusters.api_server import ApiServer, Reply, Seen, api_server
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
ADDRESS = "/api/v1/clusters/west/profile/"
WHOLE: Json = {
    "priority_class": "research",
    "tolerations": [{"key": "gpu", "operator": "Exists", "value": "", "effect": "NoSchedule"}],
    "rdma_resource": "rdma/hca_shared_devices_a",
    "rdma_count": 2,
    "nccl": {"NCCL_IB_HCA": "mlx5", "NCCL_DEBUG": "WARN", "GLOO_SOCKET_IFNAME": "eth0"},
    "memlock_bytes": None,
}
NEED = RdmaNeed("rdma/hca_shared_devices_a", 2)


class WithClasses(Answers):
    """A cluster with one PriorityClass."""

    def __call__(self, asked: Seen) -> Reply:
        if asked.path.endswith("/priorityclasses/research"):
            return Reply(body={"metadata": {"name": "research"}, "value": 1000})
        return super().__call__(asked)


@pytest.fixture
def answers() -> Answers:
    return WithClasses(nodes=[node("gpu-1", None, **{"nvidia.com/gpu": "8"})])


@pytest.fixture
def server(answers: Answers, tmp_path: Path, settings: Any) -> Iterator[ApiServer]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with api_server(answers, tmp_path) as served:
        yield served


@pytest.fixture
def api(server: ApiServer) -> APIClient:
    client = APIClient()
    client.force_authenticate(User.objects.create_user("boss", is_superuser=True))
    registered(client, server)
    return client


def put(api: APIClient, **changed: Any) -> Any:
    return api.put(ADDRESS, {**WHOLE, **changed}, format="json")


def west() -> Cluster:
    return Cluster.objects.get(name="west")


def test_a_cluster_without_a_profile_has_the_plain_one(api: APIClient) -> None:
    shown = api.get(ADDRESS).json()
    assert shown["tolerations"] == []
    assert (shown["priority_class"], shown["rdma_resource"], shown["nccl"]) == ("", "", {})
    assert shown["rdma"]["state"] == "unused"
    assert not ClusterProfile.objects.exists()


def test_a_profile_is_kept_and_its_rdma_is_off_until_a_pod_has_tried_it(api: APIClient) -> None:
    shown = put(api).json()
    assert {name: shown[name] for name in WHOLE} == WHOLE
    assert (shown["rdma"]["state"], shown["rdma"]["detail_code"]) == (
        "off",
        "clusters.rdma_untested",
    )
    assert api.get(ADDRESS).json() == shown
    cluster = api.get("/api/v1/clusters/west/").json()
    assert finding(cluster, "rdma")["level"] == "warn"
    assert finding(cluster, "priority_class")["detail_params"] == {
        "name": "research",
        "value": 1000,
    }
    assert AuditEvent.objects.filter(verb="cluster.profile_changed").count() == 1
    # A field that is left out has its default.
    assert api.put(ADDRESS, {}, format="json").json()["rdma"]["state"] == "unused"
    assert "rdma" not in [one["code"] for one in west().findings]


def test_a_priority_class_that_the_cluster_lacks_keeps_new_runs_away(
    api: APIClient, answers: Answers
) -> None:
    put(api, priority_class="none")
    cluster = api.get("/api/v1/clusters/west/").json()
    assert cluster["state"] == "registering"
    assert finding(cluster, "priority_class")["level"] == "fail"
    answers.refused.add("/apis/scheduling.k8s.io/v1/priorityclasses/none")
    api.post("/api/v1/clusters/west/check/")
    cluster = api.get("/api/v1/clusters/west/").json()
    assert (cluster["state"], finding(cluster, "priority_class")["level"]) == ("ready", "warn")


def test_the_finding_about_rdma_stays_with_each_check(api: APIClient) -> None:
    put(api)
    reason = Sentence("clusters.rdma_said", "{said}", said="It works.")
    assert note_rdma(west().pk, RdmaResult(NEED, True, reason, "gpu-1"))
    for _ in range(2):
        assert (found := finding(api.get("/api/v1/clusters/west/").json(), "rdma"))["level"] == "ok"
        assert found["evidence"]["node"] == "gpu-1"
        check_now(west())
    shown = api.get(ADDRESS).json()["rdma"]
    assert (shown["state"], shown["detail"], shown["node"]) == ("on", "It works.", "gpu-1")
    # Settings that no pod must prove keep it on; others take it back.
    assert put(api, nccl={"NCCL_DEBUG": "INFO"}).json()["rdma"]["state"] == "on"
    assert put(api, memlock_bytes=1 << 30).json()["rdma"]["state"] == "off"
    # A pod that tried the profile of before proves nothing about this one.
    assert not note_rdma(west().pk, RdmaResult(NEED, True, reason))
    assert api.get(ADDRESS).json()["rdma"]["state"] == "off"


def test_another_cluster_at_the_name_proves_rdma_anew(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    put(api)
    reason = Sentence("clusters.rdma_said", "{said}", said="It works.")
    note_rdma(west().pk, RdmaResult(NEED, True, reason))
    again = {"kubeconfig": server.kubeconfig()}
    assert api.patch("/api/v1/clusters/west/", again, format="json").status_code == 200
    assert api.get(ADDRESS).json()["rdma"]["state"] == "on"
    answers.uid = "another"
    assert api.patch("/api/v1/clusters/west/", again, format="json").status_code == 200
    assert api.get(ADDRESS).json()["rdma"]["state"] == "off"


@pytest.mark.parametrize(
    ("changed", "field", "code"),
    [
        ({"priority_class": "Research"}, "priority_class", "clusters.priority_class_wrong"),
        ({"priority_class": "system-node-critical"}, "priority_class",
         "clusters.priority_class_reserved"),
        ({"priority_class": "a/b"}, "priority_class", "clusters.priority_class_wrong"),
        ({"priority_class": "../x"}, "priority_class", "clusters.priority_class_wrong"),
        ({"priority_class": 7}, "priority_class", "not_text"),
        ({"tolerations": [{"key": ""}]}, "tolerations.0.key", "clusters.toleration_without_key"),
        ({"tolerations": [{"key": "a b"}]}, "tolerations.0.key", "clusters.toleration_key_wrong"),
        ({"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
         "tolerations.0.value", "clusters.toleration_value_unused"),
        ({"tolerations": [{"key": "a", "value": "-"}]},
         "tolerations.0.value", "clusters.toleration_value_wrong"),
        ({"tolerations": [{"key": "a", "effect": "Never"}]},
         "tolerations.0.effect", "invalid_choice"),
        ({"tolerations": [{"key": "a", "tolerationSeconds": 3}]},
         "tolerations.0.tolerationSeconds", "unknown_field"),
        ({"tolerations": [{"key": "a"}, {"key": "a"}]},
         "tolerations.1.key", "clusters.toleration_twice"),
        ({"tolerations": [{"key": f"k{at}"} for at in range(21)]}, "tolerations.non_field_errors",
         "max_items"),
        ({"rdma_resource": "hca"}, "rdma_resource", "clusters.rdma_resource_wrong"),
        ({"rdma_resource": "kubernetes.io/x"}, "rdma_resource", "clusters.rdma_resource_wrong"),
        ({"rdma_count": 0}, "rdma_count", "min_value"),
        ({"rdma_count": True}, "rdma_count", "not_an_integer"),
        ({"memlock_bytes": 0}, "memlock_bytes", "min_value"),
        ({"memlock_bytes": 1 << 63}, "memlock_bytes", "max_value"),
        ({"nccl": {"LD_PRELOAD": "x"}}, "nccl.LD_PRELOAD", "clusters.setting_name_wrong"),
        ({"nccl": {"ATOM_RANK": "1"}}, "nccl.ATOM_RANK", "clusters.setting_name_wrong"),
        ({"nccl": {"NCCL_debug": "1"}}, "nccl.NCCL_debug", "clusters.setting_name_wrong"),
        ({"nccl": {"NCCL_IB_DISABLE": "0"}}, "nccl.NCCL_IB_DISABLE", "clusters.setting_is_atoms"),
        ({"nccl": {"NCCL_DEBUG": "a\nb"}}, "nccl.NCCL_DEBUG", "clusters.setting_value_wrong"),
        ({"nccl": {"NCCL_DEBUG": "$(ATOM_POD_UID)"}}, "nccl.NCCL_DEBUG",
         "clusters.setting_value_wrong"),
        ({"nccl": {"NCCL_DEBUG": 1}}, "nccl.NCCL_DEBUG", "not_text"),
        ({"rdma_resource": ""}, "nccl.NCCL_IB_HCA", "clusters.setting_needs_rdma"),
        ({"nccl": {f"NCCL_A{at}": "" for at in range(51)}}, "nccl", "clusters.settings_many"),
        ({"nccl": []}, "nccl", "not_a_dict"),
        ({"image_repository": "envs"}, "image_repository", "clusters.image_repository_wrong"),
        ({"image_repository": "r.example/envs:1"}, "image_repository",
         "clusters.image_repository_wrong"),
        ({"image_repository": f"r.example/{'a' * 300}"}, "image_repository", "max_length"),
        ({"image_credentials": "{}"}, "image_credentials", "jobs.registry_config_invalid"),
        ({"image_credentials": '{"auths": {}, "credsStore": "x"}'}, "image_credentials",
         "jobs.registry_config_in_helper"),
        ({"capabilities": ["IPC_LOCK"]}, "capabilities", "unknown_field"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_at_its_field(
    api: APIClient, changed: Json, field: str, code: str
) -> None:
    answer = put(api, **changed)
    assert answer.status_code == 400, answer.content
    assert code in [one["code"] for one in answer.json()["error_codes"].get(field, ())]
    assert not ClusterProfile.objects.exists()


AUTHS = {"auths": {"r.example": {"username": "bot", "password": "topsecret"}}, "x": 1}


def credentials() -> Json | None:
    return image_credentials(west())


def test_credentials_for_images_are_kept_for_their_registry_and_never_shown(
    api: APIClient,
) -> None:
    sent = {"image_repository": "r.example/envs", "image_credentials": json.dumps(AUTHS)}
    shown = put(api, **sent)
    assert "topsecret" not in shown.content.decode()
    assert shown.json()["image_repository"] == "r.example/envs"
    assert shown.json()["has_image_credentials"] is True
    assert "image_credentials" not in shown.json()
    # The rest of the configuration is left out.
    kept = {"auths": {"r.example": {"auth": base64.b64encode(b"bot:topsecret").decode()}}}
    assert credentials() == kept
    assert "topsecret" not in ClusterProfile.objects.get().encrypted_image_credentials
    # Another path is the same registry; another host, or the same without TLS, is not.
    put(api, image_repository="r.example/other")
    assert credentials() == kept
    put(api, image_repository="http://r.example/other")
    assert credentials() is None
    put(api, **sent)
    assert put(api, image_repository="evil.example/envs").json()["has_image_credentials"] is False
    put(api, **sent)
    assert put(api, **{**sent, "image_credentials": ""}).json()["has_image_credentials"] is False


def test_a_removed_cluster_keeps_no_credentials(api: APIClient) -> None:
    put(api, image_repository="r.example/envs", image_credentials=json.dumps(AUTHS))
    remove(west(), User.objects.get(username="boss"))
    assert ClusterProfile.objects.get().encrypted_image_credentials == ""


def test_members_read_the_profile_and_only_administrators_write_it(api: APIClient) -> None:
    put(api)
    member = APIClient()
    member.force_authenticate(make_member(make_project("vision"), "admin"))
    assert member.get(ADDRESS).json() == api.get(ADDRESS).json()
    assert member.put(ADDRESS, {}, format="json").status_code == 404
    Cluster.objects.update(all_projects=False)
    assert member.get(ADDRESS).json()["code"] == "cluster_not_found"
    assert api.get("/api/v1/clusters/local/profile/").status_code in (404, 409)


PROFILE = Profile("research", ({"key": "gpu", "operator": "Exists"},), WHOLE["nccl"], NEED)


def test_pods_get_rdma_and_its_settings_only_if_it_passed_and_they_have_accelerators() -> None:
    off = pod_profile_of(PROFILE, has_accelerators=True)
    assert off.devices == {}
    assert off.environment == {
        "NCCL_IB_DISABLE": "1",
        "NCCL_DEBUG": "WARN",
        "GLOO_SOCKET_IFNAME": "eth0",
    }
    assert off.rdma_off is not None
    assert off.rdma_off["code"] == "clusters.rdma_untested"
    plain = pod_profile_of(PROFILE, has_accelerators=False)
    assert (plain.devices, plain.rdma_off) == ({}, None)
    assert plain.environment == off.environment
    built = build_profile_of(PROFILE)
    assert (built.priority_class, built.environment, built.devices) == ("research", {}, {})
    for one in (off, plain, built, PodProfile()):
        assert PodProfile.from_json(one.as_json()) == one
    assert PodProfile.from_json({}) == PodProfile()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", True), ("a.b/c", True), ("A/c", False), ("a/b/c", False), ("", False), ("a/", False),
     ("/a", False), ("a" * 64, False), (f"{'a.' * 126}a/b", True), (f"{'a.' * 130}a/b", False),
     ("a\n", False)],
)  # fmt: skip
def test_a_qualified_name_is_that_of_kubernetes(name: str, expected: bool) -> None:
    assert is_qualified(name) is expected


def test_settings_of_rdma_are_told_from_others() -> None:
    assert all(map(needs_rdma, ["NCCL_IB_HCA", "UCX_TLS", "FI_PROVIDER", "NCCL_NET"]))
    assert not any(map(needs_rdma, ["NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "GLOO_DEVICE"]))


@pytest.mark.parametrize(
    ("limit", "text"),
    [(65536, "64 KiB"), (1000, "1000 bytes"), (8 << 30, "8 GiB"),
     (8_388_609, "8388609 bytes"), (0, "0 bytes")],
)  # fmt: skip
def test_a_limit_reads_as_people_write_it(limit: int, text: str) -> None:
    assert shown_limit(limit) == text
