"""Devices of ResourceSlices: accelerators that may be missing in the status of their node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from atom.clusters.registration.engines.device_classes import (
    DeviceClass,
    read_device,
    resource_of,
)
from atom.clusters.registration.engines.nodes import (
    MAX_COUNT,
    MAX_KIND,
    Accelerator,
    NodeReading,
    mapping,
    sequence,
    shown,
)

_PRODUCTS = ("productName", "product", "model")


def add_slices(
    reading: NodeReading, slices: Iterable[Any], classes: Sequence[DeviceClass]
) -> NodeReading:
    """Add the devices of ResourceSlices to the nodes, each with the resource of its class.

    A kind that a device plugin reports too stays as the plugin counts it: pods get it from there.
    """
    newest: dict[tuple[str, str], int] = {}
    rows = [mapping(mapping(item).get("spec")) for item in slices]
    for spec in rows:
        pool = _pool(spec)
        newest[pool] = max(newest.get(pool, 0), _generation(spec))
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for spec in rows:
        # Slices of an older generation are about to be removed: their devices are listed again.
        if _generation(spec) == newest[_pool(spec)]:
            node = str(spec.get("nodeName", ""))
            counts.setdefault(node, Counter()).update(_devices(spec, classes))
    for name, counter in counts.items():
        if node_facts := reading.nodes.get(name):
            for kind, accelerator in _kinds(counter).items():
                node_facts.accelerators.setdefault(kind, accelerator)
    return reading


def _kinds(counts: Counter[tuple[str, str]]) -> dict[str, Accelerator]:
    """Return the kinds of a node; of two resources of one kind, the one with most devices."""
    found: dict[str, Accelerator] = {}
    # Devices that pods cannot ask for come last.
    in_order = sorted(counts.items(), key=lambda row: (not row[0][1], -row[1], row[0]))
    for (kind, resource), count in in_order:
        found.setdefault(kind, Accelerator(min(count, MAX_COUNT), resource))
    return found


def _pool(spec: Mapping[str, Any]) -> tuple[str, str]:
    return str(spec.get("driver", "")), str(mapping(spec.get("pool")).get("name", ""))


def _generation(spec: Mapping[str, Any]) -> int:
    number = mapping(spec.get("pool")).get("generation", 0)
    return number if isinstance(number, int) else 0


def _devices(spec: Mapping[str, Any], classes: Sequence[DeviceClass]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the resource of each device of a slice."""
    driver = str(spec.get("driver", ""))
    for row in sequence(spec.get("devices")):
        device = mapping(row)
        # `basic` holds the attributes before resource.k8s.io/v1beta2.
        attributes = mapping(
            device.get("attributes") or mapping(device.get("basic")).get("attributes")
        )
        resource = resource_of(read_device(driver, attributes), classes)
        yield shown(_product(attributes) or driver)[:MAX_KIND], resource


def _product(attributes: Mapping[str, Any]) -> str:
    """Return the model as device plugins write it into labels, which have no spaces."""
    texts = {
        str(key).rpartition("/")[2]: str(mapping(value).get("string") or "")
        for key, value in attributes.items()
    }
    product = next((texts[name] for name in _PRODUCTS if texts.get(name)), "")
    profile = texts.get("profile", "") if texts.get("type") == "mig" else ""
    part = f"-MIG-{profile}" if product and profile else ""
    return product.replace(" ", "-") + part
