"""The table of kinds, with custom ones as they come and go, and the discovery documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .resources import CUSTOM_VERBS, STATUS_VERBS, Resource, built_in

Json = dict[str, Any]

# Groups that every server has, in the order in which it lists them; some have no kind here.
_GROUPS: dict[str, tuple[str, ...]] = {
    "apiregistration.k8s.io": ("v1",),
    "apps": ("v1",),
    "events.k8s.io": ("v1",),
    "authentication.k8s.io": ("v1",),
    "authorization.k8s.io": ("v1",),
    "autoscaling": ("v2", "v1"),
    "batch": ("v1",),
    "certificates.k8s.io": ("v1",),
    "networking.k8s.io": ("v1",),
    "policy": ("v1",),
    "rbac.authorization.k8s.io": ("v1",),
    "storage.k8s.io": ("v1",),
    "admissionregistration.k8s.io": ("v1",),
    "apiextensions.k8s.io": ("v1",),
    "scheduling.k8s.io": ("v1",),
    "coordination.k8s.io": ("v1",),
    "node.k8s.io": ("v1",),
    "discovery.k8s.io": ("v1",),
    "resource.k8s.io": ("v1",),
    "flowcontrol.apiserver.k8s.io": ("v1",),
}

_VERSION = re.compile(r"v(?P<major>\d+)(?:(?P<level>alpha|beta)(?P<minor>\d+))?")

VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "0" * 40,
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "go1.27.3",
    "compiler": "gc",
    "platform": "linux/amd64",
}


class Registry:
    """Which kinds the cluster serves."""

    def __init__(self) -> None:
        self._served: dict[tuple[str, str, str], Resource] = {}
        self._by_plural: dict[str, Resource] = {}
        for resource in built_in():
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Serve a kind."""
        self._served[(resource.group, resource.version, resource.plural)] = resource
        self._by_plural[resource.store_key] = resource

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the kind at a path, or None."""
        return self._served.get((group, version, plural))

    def by_key(self, store_key: str) -> Resource:
        """Return a kind by its plural and group, such as `jobs.batch` or `pods.`."""
        return self._by_plural[store_key]

    def by_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return a kind as owner references name it, or None."""
        for resource in self._served.values():
            if resource.kind == kind and resource.api_version == api_version and resource.stored:
                return resource
        return None

    def all(self) -> list[Resource]:
        """Return all kinds."""
        return list(self._served.values())

    # --- custom kinds ---

    def add_definition(self, definition: Json) -> None:
        """Serve the kinds of a CustomResourceDefinition."""
        spec = definition["spec"]
        names = spec["names"]
        for version in sorted(spec["versions"], key=lambda item: bool(item["storage"])):
            if version["served"]:
                self.add(_custom(spec, names, version))

    def remove_definition(self, definition: Json) -> None:
        """Stop serving the kinds of a CustomResourceDefinition."""
        spec = definition["spec"]
        for version in spec["versions"]:
            self._served.pop((spec["group"], version["name"], spec["names"]["plural"]), None)

    def load_definitions(self, folder: Path) -> int:
        """Serve the kinds of each definition in a folder; returns how many there are."""
        files = sorted(folder.glob("*.json"))
        for file in files:
            self.add_definition(json.loads(file.read_text()))
        return len(files)

    # --- discovery ---

    def groups(self) -> Json:
        """Return the list of groups."""
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": list(self._groups().values())}

    def group(self, name: str) -> Json | None:
        """Return one group, or None."""
        group = self._groups().get(name)
        return {"kind": "APIGroup", "apiVersion": "v1"} | group if group else None

    def _groups(self) -> dict[str, Json]:
        versions = {name: list(given_versions) for name, given_versions in _GROUPS.items()}
        for group, version, _plural in self._served:
            known = versions.setdefault(group, []) if group else [version]
            if version not in known:
                known.append(version)
        for name in versions.keys() - _GROUPS.keys():
            versions[name].sort(key=_age)
        return {name: _group(name, names) for name, names in versions.items()}

    def resources(self, group: str, version: str) -> Json | None:
        """Return the kinds of a group's version, or None when it is not served."""
        kinds = [
            resource
            for (its_group, its_version, _plural), resource in self._served.items()
            if (its_group, its_version) == (group, version)
        ]
        if not kinds and version not in _GROUPS.get(group, ()):
            return None
        body: Json = {"kind": "APIResourceList"}
        # The oldest group has no apiVersion in this document.
        if group:
            body["apiVersion"] = "v1"
        body["groupVersion"] = f"{group}/{version}" if group else version
        body["resources"] = [document for kind in kinds for document in kind.documents()]
        return body


def _age(version: str) -> tuple[int, int, int, str]:
    """Return what sorts the versions of a custom group: stable ones first, then by number."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return 3, 0, 0, version
    level = {None: 0, "beta": 1, "alpha": 2}[match["level"]]
    return level, -int(match["major"]), -int(match["minor"] or 0), version


def _group(name: str, versions: list[str]) -> Json:
    documents = [{"groupVersion": f"{name}/{item}", "version": item} for item in versions]
    return {"name": name, "versions": documents, "preferredVersion": documents[0]}


def _custom(spec: Json, names: Json, version: Json) -> Resource:
    parts: dict[str, tuple[str, tuple[str, ...]]] = {
        part: ("Scale" if part == "scale" else names["kind"], STATUS_VERBS)
        for part in ("status", "scale")
        if part in (version.get("subresources") or {})
    }
    return Resource(
        spec["group"],
        version["name"],
        names["kind"],
        names["plural"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=CUSTOM_VERBS,
        parts=parts,
        short=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        singular=names.get("singular") or names["kind"].lower(),
        custom=True,
        counted=True,
        schema=version["schema"]["openAPIV3Schema"],
    )
