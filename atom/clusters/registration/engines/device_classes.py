"""The resource by which a pod asks for a device of a ResourceSlice: that of its DeviceClass.

A class selects devices by CEL. Conjunctions of equalities are understood, as vendors' drivers
install them; a class with other expressions gives no device a resource here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from atom.clusters.registration.engines.nodes import (
    is_resource_name,
    mapping,
    sequence,
    shown,
)

_MAX_EXPRESSION: Final = 2000
_STRING = r"""'[^'\\]*'|"[^"\\]*\""""
_TERM: Final = re.compile(
    rf"""\s*device\.
    (?: (?P<driver>driver)
      | attributes\[(?P<domain>{_STRING})\]\.(?P<name>[A-Za-z_]\w*) )
    \s*==\s*
    (?: (?P<text>{_STRING}) | (?P<flag>true|false) | (?P<number>-?\d{{1,18}}) )
    \s*(?P<joint>&&|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Device:
    """A device of a slice: its driver, and its attributes by `domain/name`."""

    driver: str
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Equality:
    """A condition on an attribute; the empty `attribute` is the driver."""

    attribute: str
    value: object

    def holds(self, device: Device) -> bool:
        """Return whether the device has the value, of the same type."""
        found = device.attributes.get(self.attribute) if self.attribute else device.driver
        return type(found) is type(self.value) and found == self.value


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A class whose devices pods ask for as `resource`; `conditions` None: not understood."""

    name: str
    resource: str
    conditions: tuple[Equality, ...] | None

    def selects(self, device: Device) -> bool:
        """Return whether the device is certainly one of the class."""
        return self.conditions is not None and all(one.holds(device) for one in self.conditions)


def read_device_classes(items: Iterable[Any]) -> list[DeviceClass]:
    """Return the classes with a resource, by name; names that are none are left out."""
    classes = []
    for item in items:
        spec = mapping(mapping(item).get("spec"))
        resource = spec.get("extendedResourceName")
        if is_resource_name(resource):
            name = shown(mapping(mapping(item).get("metadata")).get("name"))
            classes.append(DeviceClass(name, resource, _conditions(spec)))
    return sorted(classes, key=lambda one: one.name)


def read_device(driver: str, attributes: Mapping[str, Any]) -> Device:
    """Return a device; an attribute without a domain has that of its driver."""
    found: dict[str, object] = {}
    for key, value in attributes.items():
        name = str(key) if "/" in str(key) else f"{driver}/{key}"
        for typed in ("string", "bool", "int"):
            if typed in mapping(value):
                found[name] = mapping(value)[typed]
    return Device(driver, found)


def resource_of(device: Device, classes: Sequence[DeviceClass]) -> str:
    """Return the resource of the first class that selects the device, "" if none does."""
    return next((one.resource for one in classes if one.selects(device)), "")


def _conditions(spec: Mapping[str, Any]) -> tuple[Equality, ...] | None:
    """Return what all selectors ask for; a class without selectors has every device."""
    found: list[Equality] = []
    for selector in sequence(spec.get("selectors")):
        terms = parse_expression(mapping(mapping(selector).get("cel")).get("expression"))
        if terms is None:
            return None
        found += terms
    return tuple(found)


def parse_expression(text: object) -> list[Equality] | None:
    """Return the equalities of a conjunction; None for any other expression."""
    if not isinstance(text, str) or len(text) > _MAX_EXPRESSION:
        return None
    found, at = [], 0
    while match := _TERM.match(text, at):
        found.append(_equality(match))
        at = match.end()
        if not match["joint"]:
            return found
    return None


def _equality(match: re.Match[str]) -> Equality:
    attribute = "" if match["driver"] else f"{match['domain'][1:-1]}/{match['name']}"
    if match["text"]:
        return Equality(attribute, match["text"][1:-1])
    return Equality(attribute, int(match["number"]) if match["number"] else match["flag"] == "true")
