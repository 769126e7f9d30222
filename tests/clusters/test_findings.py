"""Findings about a cluster: its rights, devices, names and clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
import yaml
from rest_framework.test import APIClient

from atom.clusters.models import NodeAccelerator
from atom.clusters.registration.engines.nodes import parse_quantity, read_nodes
from atom.clusters.registration.engines.rights import needed_rights
from tests.clusters.answers import (
    GROUPS,
    Answers,
    device_class,
    finding,
    node,
    registered,
    resource_slice,
)
from tests.clusters.api_server import ApiServer

pytestmark = pytest.mark.django_db


def test_missing_rights_are_listed_with_the_yaml_that_grants_exactly_them(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.denied = {("leases", "create"), ("leases", "update"), ("nodes", "watch")}

    cluster = registered(api, server)

    assert cluster["state"] == "registering"
    evidence = finding(cluster, "permissions")["evidence"]
    assert {(row["resource"], row["verb"]) for row in evidence["missing"]} == answers.denied
    roles = list(yaml.safe_load_all(evidence["yaml"]))
    kinds = [role["kind"] for role in roles]
    assert kinds == ["ClusterRole", "ClusterRoleBinding", "ClusterRole", "RoleBinding"]
    assert roles[0]["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["watch"]}]
    assert roles[2]["rules"] == [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["create", "update"],
        }
    ]
    assert roles[3]["metadata"]["namespace"] == "jobs"
    account = {"kind": "ServiceAccount", "namespace": "atom", "name": "atom-server"}
    assert roles[1]["subjects"] == roles[3]["subjects"] == [account]
    answers.denied = set()
    assert api.post("/api/v1/clusters/west/check/").json()["state"] == "ready"


def test_each_right_is_asked_once_and_inside_its_namespace(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    registered(api, server)

    needed = needed_rights(GROUPS)
    assert len(answers.reviews) == len(needed) == len(set(needed))
    for right, asked in zip(needed, answers.reviews, strict=True):
        assert asked.get("namespace") == ("jobs" if right.namespaced else None)
    assert {"group": "", "resource": "pods", "subresource": "log", "verb": "get"}.items() <= next(
        asked for asked in answers.reviews if "subresource" in asked
    ).items()


def test_devices_of_resource_slices_count_where_nodes_do_not_name_them(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.slices = [
        resource_slice("gpu-1", 2, *["NVIDIA A100-SXM4-80GB"] * 8),
        resource_slice("cpu-1", 1, "NVIDIA T4", "NVIDIA T4", "NVIDIA T4"),
        resource_slice("cpu-1", 2, "NVIDIA T4"),
        resource_slice("nowhere", 1, "NVIDIA T4"),
    ]

    cluster = registered(api, server)

    assert cluster["accelerators"] == {"NVIDIA-A100-SXM4-80GB": 8, "NVIDIA-T4": 1}
    # No class gives the devices of the slice a resource; the plugin's have one.
    resources = dict(NodeAccelerator.objects.values_list("kind", "resource"))
    assert resources == {"NVIDIA-A100-SXM4-80GB": "nvidia.com/gpu", "NVIDIA-T4": ""}
    said = finding(cluster, "device_classes")
    assert (said["level"], said["detail_params"]["kinds"]) == ("warn", "NVIDIA-T4")


def test_devices_of_slices_are_asked_for_by_the_resource_of_their_class(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.slices = [resource_slice("cpu-1", 1, "NVIDIA T4")]
    own = "device.driver == 'gpu.nvidia.com'"
    answers.classes = [
        device_class("a", "example.com/other", "device.driver == 'gpu.amd.com'"),
        device_class("b", "example.com/huge", f"{own} && device.capacity['x'].memory > 3"),
        device_class("c", "no name", own),
        device_class(
            "d", "example.com/t4", f"{own} && device.attributes['gpu.nvidia.com'].type == 'gpu'"
        ),
        {"metadata": {"name": "e"}, "spec": {"selectors": "x"}},
        "no class",
    ]

    cluster = registered(api, server)

    assert NodeAccelerator.objects.get(kind="NVIDIA-T4").resource == "example.com/t4"
    assert not [row for row in cluster["findings"] if row["code"] == "device_classes"]


def test_names_and_labels_that_are_none_are_left_out_and_named(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.nodes += [
        node("Bad_Name"),
        node("../../etc"),
        node("a" * 300),
        node({"x": 1}),
        node("<script>\u202e"),
        node("fine-1", {"topology.kubernetes.io/zone": "a b", "no/good/key": "x", "k": 7}),
        "not a node",
    ]

    cluster = registered(api, server)

    assert sorted(row["name"] for row in cluster["nodes"]) == ["cpu-1", "fine-1", "gpu-1"]
    invalid = finding(cluster, "names")["evidence"]["invalid"]
    assert len(invalid) == 9
    assert "../../etc" in invalid
    assert "fine-1: topology.kubernetes.io/zone" in invalid
    assert all(text.isprintable() for text in invalid)


def test_numbers_of_a_stranger_have_limits() -> None:
    for text in ("1e999999999", "9" * 400, "-1", "NaN", "", "1Zi", None, {"a": 1}):
        assert parse_quantity(text) == 0
    huge = read_nodes([node("n", memory="9" * 18 + "Ei", cpu="9" * 18 + "E")]).nodes["n"]
    assert (huge.cpus, huge.memory_bytes) == (1_000_000, 1 << 62)


@pytest.mark.parametrize(("seconds", "level"), [(1, "ok"), (30, "warn"), (-3600, "fail")])
def test_a_clock_that_differs(
    seconds: int, level: str, api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.skew = timedelta(seconds=seconds)
    assert finding(registered(api, server), "clock")["level"] == level


def test_lists_that_are_refused_are_findings(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.refused = {"/api/v1/nodes", "/apis/storage.k8s.io/v1/storageclasses"}
    answers.groups, answers.minor = {}, "29+"

    cluster = registered(api, server)

    failed = {row["code"] for row in cluster["findings"] if row["level"] == "fail"}
    assert failed == {"version", "accelerators", "storage"}
    assert finding(cluster, "api_groups")["level"] == "warn"
    assert (cluster["state"], cluster["nodes"]) == ("registering", [])
