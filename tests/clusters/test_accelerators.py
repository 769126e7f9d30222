"""Accelerators of nodes: their kinds, the resource by which pods ask for them, their label."""

from __future__ import annotations

from typing import Any

import pytest

from atom.clusters.registration.engines.device_classes import (
    Equality,
    parse_expression,
    read_device_classes,
)
from atom.clusters.registration.engines.nodes import Accelerator, is_resource_name, read_nodes
from atom.clusters.registration.engines.slices import add_slices

A100 = "NVIDIA-A100-SXM4-80GB"
PRODUCT = "nvidia.com/gpu.product"


def kinds_of(labels: dict[str, str], **allocatable: str) -> dict[str, Accelerator]:
    item = {
        "metadata": {"name": "n1", "labels": labels},
        "status": {"allocatable": {"cpu": "8", "memory": "64Gi", **allocatable}},
    }
    return read_nodes([item]).nodes["n1"].accelerators


@pytest.mark.parametrize(
    ("labels", "allocatable", "kinds"),
    [
        (
            {PRODUCT: A100},
            {"nvidia.com/gpu": "8"},
            {A100: Accelerator(8, "nvidia.com/gpu", PRODUCT, A100)},
        ),
        ({}, {"amd.com/gpu": "4"}, {"amd.com/gpu": Accelerator(4, "amd.com/gpu")}),
        (
            {"amd.com/gpu.product-name": "MI300X"},
            {"amd.com/gpu": "4"},
            {"MI300X": Accelerator(4, "amd.com/gpu", "amd.com/gpu.product-name", "MI300X")},
        ),
        # Parts of cards beside whole ones: the product selects none of the parts.
        (
            {PRODUCT: A100},
            {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.10gb": "7"},
            {
                A100: Accelerator(1, "nvidia.com/gpu", PRODUCT, A100),
                "nvidia.com/mig-1g.10gb": Accelerator(7, "nvidia.com/mig-1g.10gb"),
            },
        ),
        # Shared cards beside whole ones: one label, two resources.
        (
            {PRODUCT: A100},
            {"nvidia.com/gpu": "1", "nvidia.com/gpu.shared": "40"},
            {
                A100: Accelerator(1, "nvidia.com/gpu", PRODUCT, A100),
                "nvidia.com/gpu.shared": Accelerator(40, "nvidia.com/gpu.shared"),
            },
        ),
        ({}, {"habana.ai/gaudi": "8"}, {"habana.ai/gaudi": Accelerator(8, "habana.ai/gaudi")}),
        ({}, {"nvidia.com/gpu": "0", "hugepages-2Mi": "4"}, {}),
        ({}, {"nvidia.com/gpu x": "1", "nvidia.com/mig-": "1", "nvidia.com/gpu/a": "1"}, {}),
    ],
)
def test_accelerators_of_a_node(
    labels: dict[str, str], allocatable: dict[str, str], kinds: dict[str, Accelerator]
) -> None:
    assert kinds_of(labels, **allocatable) == kinds


@pytest.mark.parametrize("name", ["amd.com/gpu", "nvidia.com/mig-1g.10gb", "a.b/C_d"])
def test_names_of_resources(name: str) -> None:
    assert is_resource_name(name)


@pytest.mark.parametrize(
    "name",
    ["cpu", "/gpu", "a.b/", "a.b/c/d", "a b/c", "A.b/c", "kubernetes.io/x", "x.kubernetes.io/y",
     f"{'a' * 254}/x", f"a.b/{'x' * 64}", None, 7, {"a": 1}],
)  # fmt: skip
def test_other_values_are_no_resources(name: object) -> None:
    assert not is_resource_name(name)


@pytest.mark.parametrize(
    ("text", "equalities"),
    [
        ("device.driver == 'gpu.nvidia.com'", [Equality("", "gpu.nvidia.com")]),
        (
            'device.driver=="d" && device.attributes["d.x"].type == "a && b"&&'
            "device.attributes['d'].fast == true && device.attributes['d'].n == -3 ",
            [
                Equality("", "d"),
                Equality("d.x/type", "a && b"),
                Equality("d/fast", True),
                Equality("d/n", -3),
            ],
        ),
        ("device.driver == 'a' || device.driver == 'b'", None),
        ("device.driver != 'a'", None),
        ("!(device.driver == 'a')", None),
        ("device.driver == 'a' &&", None),
        ("device.driver == 'a\\'b'", None),
        ("device.capacity['d'].memory.compareTo(quantity('40Gi')) >= 0", None),
        ("", None),
        ("device.driver == 'a'" + " && device.driver == 'a'" * 200, None),
        (None, None),
        (["device.driver == 'a'"], None),
    ],
)
def test_expressions_of_classes(text: object, equalities: list[Equality] | None) -> None:
    assert parse_expression(text) == equalities


def device(product: str, kind: str = "gpu", **more: Any) -> dict[str, Any]:
    attributes = {"productName": {"string": product}, "type": {"string": kind}, **more}
    return {"name": "gpu-0", "attributes": attributes}


def on_node(devices: list[Any], *classes: tuple[str, str, str]) -> dict[str, Accelerator]:
    reading = read_nodes([{"metadata": {"name": "n1"}}])
    spec = {
        "driver": "gpu.nvidia.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1},
        "devices": devices,
    }
    read = read_device_classes(
        {
            "metadata": {"name": name},
            "spec": {
                "extendedResourceName": resource,
                "selectors": [{"cel": {"expression": expression}}],
            },
        }
        for name, resource, expression in classes
    )
    return add_slices(reading, [{"spec": spec}], read).nodes["n1"].accelerators


def test_whole_cards_and_parts_of_a_driver_have_resources_of_their_own() -> None:
    type_is = "device.attributes['gpu.nvidia.com'].type == "
    found = on_node(
        [
            device("NVIDIA A100"),
            device("NVIDIA A100"),
            device("NVIDIA A100", "mig", profile={"string": "1g.10gb"}),
        ],
        ("mig.nvidia.com", "example.com/mig", f"{type_is}'mig'"),
        ("gpu.nvidia.com", "example.com/gpu", f"{type_is}'gpu'"),
    )
    assert found == {
        "NVIDIA-A100": Accelerator(2, "example.com/gpu"),
        "NVIDIA-A100-MIG-1g.10gb": Accelerator(1, "example.com/mig"),
    }


def test_a_kind_whose_devices_have_two_resources_counts_by_the_more_common_one() -> None:
    fast: dict[str, Any] = {"fast": {"bool": True}}
    found = on_node(
        [device("T4"), device("T4"), device("T4", **fast), device("T4", **fast)],
        ("fast", "example.com/fast", "device.attributes['gpu.nvidia.com'].fast == true"),
    )
    assert found == {"T4": Accelerator(2, "example.com/fast")}


def test_attributes_of_another_type_or_domain_select_nothing() -> None:
    found = on_node(
        [device("T4", fast={"string": "true"}, n={"int": 1})],
        ("a", "example.com/a", "device.attributes['gpu.nvidia.com'].fast == true"),
        ("b", "example.com/b", "device.attributes['other.com'].type == 'gpu'"),
        ("c", "example.com/c", "device.attributes['gpu.nvidia.com'].n == true"),
    )
    assert found == {"T4": Accelerator(1)}
