"""Addresses of pods and the names by which pods of one headless Service reach each other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.fakes.kubernetes.selectors import matches, selector_requirements
from tests.fakes.kubernetes.store import Store

Json = dict[str, Any]

_LOCAL = "127.0.0.1\tlocalhost\n::1\tlocalhost\n"


def addresses() -> Iterator[str]:
    """Yield addresses of this machine; two kubelets rarely share their network of 65,000."""
    chance = random.SystemRandom()
    network = chance.randrange(1, 255)
    start = chance.randrange(1, 255)
    for number in range(1, 65_000):
        third, fourth = divmod(start * 254 + number, 254)
        yield f"127.{network}.{third % 256}.{fourth + 1}"


def hostname_of(pod: Json) -> str:
    """Return the name that a pod's processes see."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])[:63]


def hosts_of(store: Store, pod: Json, address: str) -> str:
    """Return the hosts file of a pod: itself, and what a cluster's DNS answers about others."""
    namespace, own = pod["metadata"]["namespace"], hostname_of(pod)
    lines = [_LOCAL]
    subdomain = pod["spec"].get("subdomain")
    if subdomain:
        full = f"{own}.{subdomain}.{namespace}.svc.cluster.local"
        lines.append(f"{address}\t{full}\t{own}\n")
    else:
        lines.append(f"{address}\t{own}\n")
    for service in store.objects("services.", namespace):
        lines += _lines_of(store, service)
    return "".join(lines)


def _lines_of(store: Store, service: Json) -> Iterator[str]:
    spec, metadata = service["spec"], service["metadata"]
    if spec.get("clusterIP") != "None" or not spec.get("selector"):
        return
    requirements = selector_requirements({"matchLabels": spec["selector"]}) or []
    for pod in store.objects("pods.", metadata["namespace"]):
        address = pod["status"].get("podIP")
        if not address or not _answers(pod, spec) or not matches(requirements, pod):
            continue
        domain = f"{metadata['name']}.{metadata['namespace']}.svc.cluster.local"
        names = [domain]
        if pod["spec"].get("subdomain") == metadata["name"]:
            names.insert(0, f"{hostname_of(pod)}.{domain}")
        yield f"{address}\t{' '.join(name for full in names for name in _forms(full))}\n"


def _forms(full: str) -> list[str]:
    """Return a name with and without the domains in which a pod searches."""
    service = full.removesuffix(".svc.cluster.local")
    return [full, f"{service}.svc", service, service.rpartition(".")[0]]


def _answers(pod: Json, spec: Json) -> bool:
    if pod["status"].get("phase") in ("Failed", "Succeeded"):
        return False
    if spec.get("publishNotReadyAddresses"):
        return True
    conditions = pod["status"].get("conditions") or ()
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
