"""The objects by which a pod tries to reach Atom, and what its report means. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from atom.clusters.registration.engines.findings import Level
from atom.clusters.registration.engines.profiles import PodProfile
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import (
    POD_PROFILE,
    READ_ONLY_PROFILE,
    Json,
    network_rules,
    profile_fields,
)
from atom_sdk.sentences import Sentence

API, STORE = "api", "store"
# The time between the creation of the Job and the report of its pod.
LIMIT_S = 110
_KEPT_S = 300
_POD_CHECK = f"{names.PREFIX}pod-check"
_SMALL = {"cpu": "100m", "memory": "128Mi"}
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """All that the objects of a try depend on; `addresses` by their names here."""

    name: str
    namespace: str
    image: str
    source: str
    addresses: Mapping[str, str]
    # Priority, tolerations and RDMA devices, as a run's pods would have them.
    profile: PodProfile = field(default_factory=PodProfile)

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of its objects; those of runs are not among them."""
        return {names.MANAGED_BY: names.MANAGER, _POD_CHECK: self.name}


def check_surroundings(namespace: str) -> list[Json]:
    """Return what the pod's namespace needs: that, a run's account, and a run's network policy.

    The policy is for pods of tries alone: the namespace may have pods of others.
    """
    labels = {names.MANAGED_BY: names.MANAGER}
    inside: Json = {"namespace": namespace, "labels": labels}
    tried = {"matchExpressions": [{"key": _POD_CHECK, "operator": "Exists"}]}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": names.ACCOUNT, **inside},
            "automountServiceAccountToken": False,
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "atom-pod-check", **inside},
            "spec": network_rules(tried),
        },
    ]


def check_job(order: CheckOrder) -> Json:
    """Return the Job: one pod with a run's profile, which ends by itself."""
    devices = {name: str(count) for name, count in order.profile.devices.items()}
    held = {**_SMALL, **devices}
    main: Json = {
        "name": names.MAIN,
        "image": order.image,
        "command": ["python3", "-c", order.source],
        "env": [{"name": "ATOM_ADDRESSES", "value": json.dumps(dict(order.addresses))}],
        "resources": {"requests": held, "limits": held},
        "securityContext": READ_ONLY_PROFILE,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    pod: Json = {
        "serviceAccountName": names.ACCOUNT,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "securityContext": POD_PROFILE,
        "containers": [main],
        **profile_fields(order.profile),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": order.name, "namespace": order.namespace, "labels": order.labels},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": LIMIT_S + 10,
            "ttlSecondsAfterFinished": _KEPT_S,
            "template": {"metadata": {"labels": order.labels}, "spec": pod},
        },
    }


def selector_of(order: CheckOrder) -> str:
    """Return what selects the pods of a try."""
    return f"{_POD_CHECK}={order.name}"


def judge_report(text: str, order: CheckOrder, exit_code: object) -> tuple[Level, Sentence]:
    """Return what the pod's report means; one that is none says how the container ended."""
    report = _parsed(text)
    if report is None:
        return "fail", Sentence(
            "clusters.pod_no_report",
            "The pod ended with {code} and said: {said}. Give ATOM_POD_IMAGE an image that has "
            "python3, 3.8 or newer.",
            code=str(exit_code),
            said=text.strip()[-300:] or "-",
        )
    api = order.addresses[API]
    if problem := _problem(report[API], must_be_atom=True):
        return "fail", Sentence(
            "clusters.pod_api_unreached",
            "The pod did not reach Atom at {url}: {said}. Set ATOM_POD_API_URL to an address that "
            "pods reach.",
            url=api,
            said=problem,
        )
    store = _host_of(order.addresses[STORE])
    if problem := _problem(report[STORE], must_be_atom=False):
        return "fail", Sentence(
            "clusters.pod_store_unreached",
            "The pod reached Atom, and not the object store at {host}: {said}. Set "
            "ATOM_S3_PUBLIC_ENDPOINT_URL to an address that pods reach.",
            host=store,
            said=problem,
        )
    return "ok", Sentence(
        "clusters.pod_reaches",
        "A pod reached Atom at {url}, and the object store at {host}.",
        url=api,
        host=store,
    )


def _parsed(text: str) -> dict[str, Json] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(it), dict) for it in (API, STORE)
    ):
        return None
    return found


def _problem(answer: Json, *, must_be_atom: bool) -> str:
    """Return what is wrong with an answer, "" for nothing.

    The store may refuse what was asked: it answers, and that counts.
    """
    if error := answer.get("error"):
        return str(error)[:300]
    status = answer.get("status")
    if type(status) is not int or status >= _SERVER_ERROR:
        return f"HTTP {status}"[:40]
    if must_be_atom and '"faults"' not in str(answer.get("start")):
        return f"HTTP {status}, and the answer is not Atom's"
    return ""


def _host_of(url: str) -> str:
    return urlsplit(url).netloc
