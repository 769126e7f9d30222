"""Nodes and their accelerators, from what a cluster's API says of them.

A cluster's words are a stranger's: names and labels that are none are left out, and numbers have
limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeGuard

_MAX_NAME = 253
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_QUANTITY = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_FACTORS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** at for at, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Decimal(1024) ** at for at, unit in enumerate("KMGTPE", 1)},
}
_MAX_BYTES = 1 << 62
MAX_COUNT = 1_000_000
MAX_KIND = 100
_MAX_SHOWN = 100
# Resources of device plugins that stand for accelerators, by their names' beginnings.
_ACCELERATORS = (
    "nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi",
    "google.com/tpu", "huawei.com/Ascend", "aws.amazon.com/neuron", "cambricon.com/",
    "hygon.com/dcu", "metax-tech.com/gpu", "mthreads.com/gpu",
)  # fmt: skip
# Labels that say which model the resource of a vendor is.
_PRODUCTS = {
    "nvidia.com/": ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator"),
    "amd.com/": ("amd.com/gpu.product-name",),
    "google.com/": ("cloud.google.com/gke-tpu-accelerator",),
}
TOPOLOGY_LABELS = (
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/rack",
    "nvidia.com/gpu.clique",
    "cloud.google.com/gce-topology-block",
    "cloud.provider.com/topology-block",
)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Accelerators of one kind on a node, and how a pod asks for them."""

    count: int
    # The resource's name, such as nvidia.com/gpu; "" if pods cannot ask for them.
    resource: str = ""
    # The label of the node that selects the kind; "" if there is none.
    label_name: str = ""
    label_value: str = ""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node of a cluster."""

    name: str
    cpus: int
    memory_bytes: int
    is_ready: bool
    is_unschedulable: bool
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()
    # By kind, from device plugins or from ResourceSlices.
    accelerators: dict[str, Accelerator] = field(default_factory=dict)


@dataclass(slots=True)
class NodeReading:
    """All nodes of a cluster, and what was left out of them."""

    nodes: dict[str, NodeFacts] = field(default_factory=dict)
    # Names and labels that are none, as they can be shown.
    invalid: list[str] = field(default_factory=list)


def shown(text: object) -> str:
    """Return a stranger's text in characters that can be shown, not too long."""
    line = "".join(c if c.isprintable() else "?" for c in str(text)[:_MAX_SHOWN])
    return line or "-"


def parse_quantity(text: object) -> Decimal:
    """Return the number that a quantity means; 0 for one that is none."""
    match = _QUANTITY.fullmatch(str(text)[:40])
    return Decimal(match[1]) * _FACTORS[match[2] or ""] if match else Decimal(0)


def is_node_name(name: object) -> TypeGuard[str]:
    """Return whether a value is a name that a node may have."""
    return isinstance(name, str) and len(name) <= _MAX_NAME and bool(_NAME.fullmatch(name))


def is_resource_name(name: object) -> TypeGuard[str]:
    """Return whether a value is the name of an extended resource, such as `amd.com/gpu`."""
    if not isinstance(name, str):
        return False
    prefix, _, resource = name.partition("/")
    return (
        is_node_name(prefix)
        and bool(_LABEL_NAME.fullmatch(resource))
        and not prefix.endswith("kubernetes.io")
    )


def read_nodes(items: Iterable[Any]) -> NodeReading:
    """Return the nodes of a list of the API."""
    reading = NodeReading()
    for item in items:
        metadata = mapping(mapping(item).get("metadata"))
        name = metadata.get("name")
        if not is_node_name(name):
            reading.invalid.append(shown(name))
            continue
        labels, wrong = _labels(mapping(metadata.get("labels")))
        reading.invalid += [f"{name}: {shown(key)}" for key in wrong]
        reading.nodes[name] = _node(name, labels, mapping(item))
    return reading


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, empty for anything else."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> list[Any]:
    """Return a list, empty for anything else."""
    return value if isinstance(value, list) else []


def _at_most(number: Decimal, limit: int) -> int:
    return limit if number > limit else int(number)


def _labels(labels: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the labels that are valid, and the names of the others."""
    valid, wrong = {}, []
    for key, value in labels.items():
        prefix, _, name = str(key).rpartition("/")
        is_key = _LABEL_NAME.fullmatch(name) and (not prefix or _NAME.fullmatch(prefix))
        if is_key and isinstance(value, str) and _LABEL_VALUE.fullmatch(value):
            valid[str(key)] = value
        else:
            wrong.append(str(key))
    return valid, wrong


def _node(name: str, labels: dict[str, str], item: Mapping[str, Any]) -> NodeFacts:
    spec, status = mapping(item.get("spec")), mapping(item.get("status"))
    allocatable = mapping(status.get("allocatable"))
    conditions = [mapping(row) for row in sequence(status.get("conditions"))]
    taints = [mapping(row) for row in sequence(spec.get("taints"))]
    return NodeFacts(
        name=name,
        cpus=_at_most(parse_quantity(allocatable.get("cpu")), MAX_COUNT),
        memory_bytes=_at_most(parse_quantity(allocatable.get("memory")), _MAX_BYTES),
        is_ready=any(
            row.get("type") == "Ready" and row.get("status") == "True" for row in conditions
        ),
        is_unschedulable=spec.get("unschedulable") is True,
        labels={key: labels[key] for key in TOPOLOGY_LABELS if key in labels},
        taints=tuple(
            sorted(f"{shown(row.get('key'))}:{shown(row.get('effect'))}" for row in taints)
        ),
        accelerators=_of_plugins(allocatable, labels),
    )


def _of_plugins(
    allocatable: Mapping[str, Any], labels: Mapping[str, str]
) -> dict[str, Accelerator]:
    found: dict[str, Accelerator] = {}
    for resource in sorted(map(str, allocatable)):
        count = _at_most(parse_quantity(allocatable[resource]), MAX_COUNT)
        if not resource.startswith(_ACCELERATORS) or not is_resource_name(resource) or not count:
            continue
        label = _product_label(resource, labels)
        product = labels.get(label, "")
        if product and product not in found:
            found[product] = Accelerator(count, resource, label, product)
        else:
            # Without a label, or beside another resource of the product, such as shared cards.
            found[resource[:MAX_KIND]] = Accelerator(count, resource)
    return found


def _product_label(resource: str, labels: Mapping[str, str]) -> str:
    """Return the label with the model of whole cards; "" for parts of them, and without one."""
    if "/mig-" in resource:
        return ""
    names = next((names for vendor, names in _PRODUCTS.items() if resource.startswith(vendor)), ())
    return next((name for name in names if labels.get(name)), "")
