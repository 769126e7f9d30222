"""All checks of a cluster in their order, and the facts that they leave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails, ClusterForbids
from atom.clusters.kubernetes.identity import read_identity
from atom.clusters.registration.checks.priority_classes import check_priority_class
from atom.clusters.registration.checks.run_queues import check_queues, without_kueue
from atom.clusters.registration.engines.cluster_queues import KUEUE, QUEUES, known_version
from atom.clusters.registration.engines.device_classes import read_device_classes
from atom.clusters.registration.engines.findings import POD_REACHES_ATOM, Finding
from atom.clusters.registration.engines.nodes import (
    NodeFacts,
    NodeReading,
    mapping,
    read_nodes,
    sequence,
    shown,
)
from atom.clusters.registration.engines.priorities import read_priority_classes
from atom.clusters.registration.engines.rights import Right, grant_yaml, needed_rights
from atom.clusters.registration.engines.slices import add_slices
from atom.core import clock
from atom_sdk.sentences import Sentence

# Job's podFailurePolicy, without which a preempted run counts as failed.
OLDEST_MINOR = 31
ENGINES = {
    KUEUE: "kueue.x-k8s.io",
    "volcano": "scheduling.volcano.sh",
    "fluid": "data.fluid.io",
    "jobset": "jobset.x-k8s.io",
    "trainer": "trainer.kubeflow.org",
    "dra": "resource.k8s.io",
}
_PAGE = 500
_MAX_PAGES = 20
_SKEW_WARN, _SKEW_FAIL = timedelta(seconds=5), timedelta(minutes=2)
_MAX_LISTED = 50
_GROUP = re.compile(r"[a-z0-9.-]{1,253}")
_VERSION = re.compile(r"v[a-z0-9]{1,20}")
_ZONE = "topology.kubernetes.io/zone"


@dataclass(slots=True)
class CheckResult:
    """The findings of a check, the facts to show, and the nodes."""

    findings: list[Finding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    # The uid of its namespace kube-system; empty if it is not shown.
    identity: str = ""
    # None: they could not be listed, so nothing is known of them.
    nodes: list[NodeFacts] | None = None

    @property
    def passed(self) -> bool:
        """Return whether nothing failed."""
        return all(finding.level != "fail" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The settings of a cluster that a check asks about."""

    # The namespace of Atom's jobs.
    namespace: str
    # The PriorityClass of runs; empty: none.
    priority_class: str = ""
    # The ClusterQueues of runs, each with resources that it need not cover.
    queues: Mapping[str, Collection[str]] = field(default_factory=dict)


def check_cluster(cluster: ClusterConnection, scope: CheckScope) -> CheckResult:
    """Ask a cluster everything that registration shows.

    Raises ClusterFailure if it cannot be asked at all.
    """
    result = CheckResult()
    before = clock.now()
    version = cluster.get("/version")
    result.findings.append(_version(version.body, result.facts))
    result.findings.append(_clock(version.headers.get("Date"), before, clock.now(), result.facts))
    result.identity = read_identity(cluster)
    result.findings.append(_identity(result.identity))
    groups = _groups(cluster)
    result.findings.append(_engines(groups, result.facts))
    result.findings.append(_permissions(cluster, scope.namespace, groups, result.facts))
    if scope.priority_class:
        result.findings.append(check_priority_class(cluster, scope.priority_class))
    _note_priorities(cluster, result.facts)
    result.findings += _about_nodes(cluster, groups, result)
    if scope.queues:
        result.findings.append(_queues(cluster, scope, groups, result))
    result.findings.append(_storage(cluster, result.facts))
    result.findings.append(_pod_not_tried())
    return result


def _pod_not_tried() -> Finding:
    return Finding(
        POD_REACHES_ATOM,
        "warn",
        Sentence("clusters.pod_not_tried", "No pod has tried yet whether it reaches this server."),
    )


def _version(body: dict[str, Any], facts: dict[str, Any]) -> Finding:
    numbers = [re.match(r"\d{1,4}", str(body.get(name, ""))) for name in ("major", "minor")]
    if None in numbers:
        raise ClusterAnswerWrong(
            Sentence("clusters.version_missing", "It does not say its version of Kubernetes.")
        )
    major, minor = (int(number[0]) for number in numbers if number)
    facts["version"] = shown(body.get("gitVersion") or f"v{major}.{minor}")
    is_old = (major, minor) < (1, OLDEST_MINOR)
    if is_old:
        said = Sentence(
            "clusters.version_old",
            "Kubernetes {version} is older than 1.{oldest}.",
            version=facts["version"],
            oldest=OLDEST_MINOR,
        )
    else:
        said = Sentence("clusters.version", "Kubernetes {version}.", version=facts["version"])
    return Finding("version", "fail" if is_old else "ok", said)


def _identity(identity: str) -> Finding:
    if identity:
        said = Sentence("clusters.identity", "It is known again by its namespace kube-system.")
        return Finding("identity", "ok", said)
    said = Sentence(
        "clusters.identity_unknown",
        "The account cannot read the namespace kube-system: another cluster at this address "
        "would not be noticed.",
    )
    return Finding("identity", "warn", said)


def _clock(header: str | None, before: datetime, after: datetime, facts: dict[str, Any]) -> Finding:
    try:
        there = parsedate_to_datetime(header or "")
    except (ValueError, TypeError):
        return Finding(
            "clock", "warn", Sentence("clusters.clock_unknown", "It does not say the time.")
        )
    there = there if there.tzinfo else there.replace(tzinfo=UTC)
    # The header has whole seconds.
    skew = there + timedelta(milliseconds=500) - (before + (after - before) / 2)
    seconds = round(skew.total_seconds())
    facts["clock_skew_s"] = seconds
    if abs(skew) <= _SKEW_WARN:
        return Finding("clock", "ok", Sentence("clusters.clock", "The clocks agree."))
    said = Sentence(
        "clusters.clock_skewed", "Its clock differs from ours by {seconds} s.", seconds=seconds
    )
    return Finding("clock", "fail" if abs(skew) > _SKEW_FAIL else "warn", said)


def _groups(cluster: ClusterConnection) -> dict[str, list[str]]:
    """Return the versions of each API group, the preferred one first."""
    groups: dict[str, list[str]] = {}
    for row in map(mapping, sequence(cluster.get("/apis").body.get("groups"))):
        name = str(row.get("name", ""))
        preferred = str(mapping(row.get("preferredVersion")).get("version", ""))
        versions = [str(mapping(it).get("version", "")) for it in sequence(row.get("versions"))]
        if _GROUP.fullmatch(name):
            names = dict.fromkeys([preferred, *versions])
            groups[name] = [it for it in names if _VERSION.fullmatch(it)][:10]
    return groups


def _engines(groups: dict[str, list[str]], facts: dict[str, Any]) -> Finding:
    engines = {name: groups[group] for name, group in ENGINES.items() if group in groups}
    facts["api_groups"] = engines
    if KUEUE not in engines:
        said = Sentence(
            "clusters.kueue_missing", "Kueue is not there: runs get no queue, quota or order."
        )
        return Finding("api_groups", "warn", said, {"engines": engines})
    said = Sentence("clusters.engines", "It has {engines}.", engines=", ".join(engines))
    return Finding("api_groups", "ok", said, {"engines": engines})


def _permissions(
    cluster: ClusterConnection, namespace: str, groups: dict[str, list[str]], facts: dict[str, Any]
) -> Finding:
    username = _username(cluster)
    facts["account"] = shown(username)
    needed = needed_rights(groups)
    missing = [right for right in needed if not _is_allowed(cluster, right, namespace)]
    if not missing:
        said = Sentence("clusters.rights", "The account has all {count} rights.", count=len(needed))
        return Finding("permissions", "ok", said)
    said = Sentence(
        "clusters.rights_missing",
        "The account lacks {count} of {all} rights.",
        count=len(missing),
        all=len(needed),
    )
    evidence = {
        "missing": [right.as_json() for right in missing],
        "yaml": grant_yaml(missing, namespace, username),
    }
    return Finding("permissions", "fail", said, evidence)


def _username(cluster: ClusterConnection) -> str:
    """Return the name by which the cluster knows us; empty where it does not say."""
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = cluster.post(path, body).body
    except (ClusterFails, ClusterForbids):
        return ""
    name = mapping(mapping(answer.get("status")).get("userInfo")).get("username")
    return name[:512] if isinstance(name, str) and name.isprintable() else ""


def _is_allowed(cluster: ClusterConnection, right: Right, namespace: str) -> bool:
    attributes = right.attributes
    if right.namespaced:
        attributes["namespace"] = namespace
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = cluster.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    return mapping(answer.body.get("status")).get("allowed") is True


def _about_nodes(
    cluster: ClusterConnection, groups: dict[str, list[str]], result: CheckResult
) -> Iterator[Finding]:
    try:
        reading = read_nodes(_items(cluster, "/api/v1/nodes"))
    except ClusterForbids as refused:
        yield Finding("accelerators", "fail", _forbidden("nodes", refused))
        return
    versions = groups.get(ENGINES["dra"], [])
    if versions:
        group = f"/apis/{ENGINES['dra']}/{versions[0]}"
        classes = _optional(lambda: list(_items(cluster, f"{group}/deviceclasses")))
        slices = _optional(lambda: list(_items(cluster, f"{group}/resourceslices")))
        add_slices(reading, slices, read_device_classes(classes))
    result.nodes = list(reading.nodes.values())
    if reading.invalid:
        said = Sentence(
            "clusters.names_invalid",
            "{count} names or labels of nodes are none; they are left out.",
            count=len(reading.invalid),
        )
        yield Finding("names", "warn", said, {"invalid": reading.invalid[:_MAX_LISTED]})
    yield _accelerators(reading, result.facts)
    yield from _not_askable(reading)
    yield _topology(reading, result.facts)
    yield _taints(reading, result.facts)


def _accelerators(reading: NodeReading, facts: dict[str, Any]) -> Finding:
    nodes = reading.nodes.values()
    total: Counter[str] = Counter()
    for node in nodes:
        total.update({kind: one.count for kind, one in node.accelerators.items()})
    ready = sum(node.is_ready for node in nodes)
    facts["nodes"] = {"total": len(reading.nodes), "ready": ready}
    facts["accelerators"] = dict(total)
    if not ready:
        said = Sentence(
            "clusters.no_node_ready", "None of {count} nodes is ready.", count=len(nodes)
        )
        return Finding("accelerators", "fail", said)
    if not total:
        said = Sentence(
            "clusters.no_accelerators", "{count} nodes, none with an accelerator.", count=len(nodes)
        )
        return Finding("accelerators", "warn", said)
    said = Sentence(
        "clusters.accelerators",
        "Nodes: {count}, with {accelerators}.",
        count=len(nodes),
        accelerators=", ".join(f"{count} × {kind}" for kind, count in total.most_common(10)),
    )
    return Finding("accelerators", "ok", said, {"accelerators": dict(total)})


def _not_askable(reading: NodeReading) -> Iterator[Finding]:
    """Yield which accelerators pods cannot ask for: no DeviceClass gives them a resource."""
    kinds = sorted(
        {
            kind
            for node in reading.nodes.values()
            for kind, one in node.accelerators.items()
            if not one.resource
        }
    )
    if kinds:
        said = Sentence(
            "clusters.accelerators_not_askable",
            "Runs cannot ask for {kinds}: no DeviceClass with an extendedResourceName selects "
            "these devices by simple equalities.",
            kinds=", ".join(kinds[:10]),
        )
        yield Finding("device_classes", "warn", said, {"kinds": kinds[:_MAX_LISTED]})


def _topology(reading: NodeReading, facts: dict[str, Any]) -> Finding:
    values: dict[str, set[str]] = {}
    for node in reading.nodes.values():
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    facts["topology"] = {key: sorted(found)[:_MAX_LISTED] for key, found in values.items()}
    if _ZONE not in values:
        said = Sentence("clusters.no_zones", "No node has a label of its zone.")
        return Finding("topology", "warn", said)
    said = Sentence("clusters.zones", "Zones of the nodes: {count}.", count=len(values[_ZONE]))
    return Finding("topology", "ok", said, {"labels": facts["topology"]})


def _taints(reading: NodeReading, facts: dict[str, Any]) -> Finding:
    taints = Counter(taint for node in reading.nodes.values() for taint in node.taints)
    facts["taints"] = dict(taints.most_common(_MAX_LISTED))
    if not taints:
        return Finding("taints", "ok", Sentence("clusters.no_taints", "No node has a taint."))
    said = Sentence(
        "clusters.taints",
        "Nodes have {count} kinds of taints; runs need tolerations for them.",
        count=len(taints),
    )
    return Finding("taints", "warn", said, {"taints": facts["taints"]})


def _queues(
    cluster: ClusterConnection,
    scope: CheckScope,
    groups: dict[str, list[str]],
    result: CheckResult,
) -> Finding:
    version = known_version(groups.get(ENGINES[KUEUE], ()))
    if not version:
        return without_kueue(scope.queues)
    path = f"/apis/{ENGINES[KUEUE]}/{version}/clusterqueues"
    try:
        documents = list(_items(cluster, path))
    except ClusterForbids:
        documents = None
    accelerators = {
        one.resource
        for node in result.nodes or ()
        for one in node.accelerators.values()
        if one.resource
    }
    finding, result.facts[QUEUES] = check_queues(
        cluster, scope.queues, documents, accelerators, scope.namespace
    )
    return finding


def _storage(cluster: ClusterConnection, facts: dict[str, Any]) -> Finding:
    try:
        items = list(_items(cluster, "/apis/storage.k8s.io/v1/storageclasses"))
    except ClusterForbids as refused:
        return Finding("storage", "fail", _forbidden("storageclasses", refused))
    names = sorted(shown(mapping(mapping(it).get("metadata")).get("name")) for it in items)
    facts["storage_classes"] = names[:_MAX_LISTED]
    if not names:
        said = Sentence("clusters.no_storage", "It has no storage class.")
        return Finding("storage", "warn", said)
    said = Sentence("clusters.storage", "It has {count} storage classes.", count=len(names))
    return Finding("storage", "ok", said, {"storage_classes": facts["storage_classes"]})


def _note_priorities(cluster: ClusterConnection, facts: dict[str, Any]) -> None:
    """Note who may preempt runs; the fact is missing where the account may not see it."""
    with suppress(ClusterFails, ClusterForbids):
        items = _items(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses")
        facts["priority_classes"] = read_priority_classes(items)


def _forbidden(resource: str, refused: ClusterForbids) -> Sentence:
    return Sentence(
        "clusters.check_forbidden",
        "The account may not list {resource}: {reason}",
        resource=resource,
        reason=refused.detail,
    )


def _optional(read: Callable[[], list[Any]]) -> list[Any]:
    """Return nothing where the cluster refuses or lacks a list that is not always there."""
    try:
        return read()
    except (ClusterFails, ClusterForbids):
        return []


def _items(cluster: ClusterConnection, path: str) -> Iterator[Any]:
    """Yield the items of a list, page by page. Raises ClusterAnswerWrong if it does not end."""
    query: dict[str, str | int] = {"limit": _PAGE}
    for _ in range(_MAX_PAGES):
        body = cluster.get(path, query).body
        yield from sequence(body.get("items"))
        following = mapping(body.get("metadata")).get("continue")
        if not following or not isinstance(following, str):
            return
        query["continue"] = following
    raise ClusterAnswerWrong(
        Sentence(
            "clusters.list_endless", "A list has more than {max} items.", max=_PAGE * _MAX_PAGES
        )
    )
