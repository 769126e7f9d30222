"""A cluster as far as its registration asks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from rest_framework.test import APIClient

from tests.clusters.api_server import ApiServer, Reply, Seen

GROUPS = {"kueue.x-k8s.io": ["v1beta2", "v1beta1"], "resource.k8s.io": ["v1"]}


def node(name: Any, labels: dict[str, Any] | None = None, **allocatable: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "15500m", "memory": "64Gi", **allocatable},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def resource_slice(name: str, generation: int, *products: str) -> dict[str, Any]:
    devices = [
        {
            "name": f"gpu-{at}",
            "attributes": {"productName": {"string": product}, "type": {"string": "gpu"}},
        }
        for at, product in enumerate(products)
    ]
    pool = {"name": name, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": name, "pool": pool, "devices": devices}
    return {"spec": spec}


def device_class(name: str, resource: str, expression: str) -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}]
    spec = {"extendedResourceName": resource, "selectors": selectors}
    return {"metadata": {"name": name}, "spec": spec}


@dataclass
class Answers:
    """A cluster as far as registration asks it."""

    minor: str = "36"
    groups: dict[str, list[str]] = field(default_factory=lambda: dict(GROUPS))
    nodes: list[Any] = field(default_factory=list)
    slices: list[Any] = field(default_factory=list)
    classes: list[Any] = field(default_factory=list)
    priorities: list[Any] = field(default_factory=list)
    denied: set[tuple[str, str]] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    skew: timedelta = timedelta()
    uid: str = "0e9a8f0c"
    reviews: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Seen) -> Reply:
        path = asked.path.partition("?")[0]
        if path in self.refused:
            return Reply(403, {"kind": "Status", "message": "forbidden"})
        if path == "/version":
            date = format_datetime(datetime.now(UTC) + self.skew, usegmt=True)
            body = {"major": "1", "minor": self.minor, "gitVersion": f"v1.{self.minor}.0"}
            return Reply(body=body, headers={"Date": date})
        if path == "/apis":
            rows = [
                {"name": name, "versions": [{"version": it} for it in versions]}
                for name, versions in self.groups.items()
            ]
            return Reply(body={"groups": rows})
        if path.endswith("selfsubjectreviews"):
            user = {"username": "system:serviceaccount:atom:atom-server"}
            return Reply(201, {"status": {"userInfo": user}})
        if path.endswith("selfsubjectaccessreviews"):
            asked_for = asked.body["spec"]["resourceAttributes"]
            self.reviews.append(asked_for)
            allowed = (asked_for["resource"], asked_for["verb"]) not in self.denied
            return Reply(201, {"status": {"allowed": allowed}})
        if path == "/api/v1/namespaces/kube-system":
            return Reply(body={"metadata": {"name": "kube-system", "uid": self.uid}})
        lists = {
            "/api/v1/nodes": self.nodes,
            "/apis/resource.k8s.io/v1/resourceslices": self.slices,
            "/apis/resource.k8s.io/v1/deviceclasses": self.classes,
            "/apis/storage.k8s.io/v1/storageclasses": [{"metadata": {"name": "fast"}}],
            "/apis/scheduling.k8s.io/v1/priorityclasses": self.priorities,
        }
        if path in lists:
            return Reply(body={"items": lists[path], "metadata": {}})
        return Reply(404, {"kind": "Status", "message": "not there"})


def body_for(server: ApiServer, **more: Any) -> dict[str, Any]:
    return {"name": "west", "kubeconfig": server.kubeconfig(), **more}


def registered(api: APIClient, server: ApiServer, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/v1/clusters/", body_for(server, **more), format="json")
    assert answer.status_code == 201, answer.content
    data: dict[str, Any] = answer.json()
    return data


def finding(cluster: dict[str, Any], code: str) -> dict[str, Any]:
    return next(row for row in cluster["findings"] if row["code"] == code)
