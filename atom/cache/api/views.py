"""The cache of one version."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import audit
from atom.accounts.api.mixins import user_of
from atom.cache.agents.actions.evicting import evict_version
from atom.cache.api.serializers import (
    CacheRecordSerializer,
    NodeChoiceSerializer,
    WarmSerializer,
)
from atom.cache.backends import backend_of
from atom.cache.backends.base import Coverage
from atom.cache.errors import NodeOutOfReach, NodeUnknown
from atom.cache.models import CacheRecord, NodeAgent
from atom.cache.warming.actions.eviction import evict
from atom.cache.warming.actions.records import UNREADABLE
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from atom.core.bodies import check
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence


class CacheView(DatasetScopedView, APIView):
    """Where the version's bytes are."""

    @extend_schema(responses=CacheRecordSerializer(many=True), operation_id="version_cache")
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return one line per node."""
        return Response(_lines(self.version))


class WarmView(DatasetScopedView, APIView):
    """Bringing the version to a node."""

    @extend_schema(
        request=WarmSerializer,
        responses={202: CacheRecordSerializer(many=True)},
        operation_id="version_warm",
    )
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Warm the version in the background."""
        body = WarmSerializer(data=request.data)
        check(body)
        node = _node(body.validated_data.get("node"))
        request_warm(self.version, node, body.validated_data["selector"])
        return Response(_lines(self.version), status=status.HTTP_202_ACCEPTED)


class EvictView(DatasetScopedView, APIView):
    """Removing the version from a node."""

    @extend_schema(
        request=NodeChoiceSerializer,
        responses={202: CacheRecordSerializer(many=True)},
        operation_id="version_evict",
    )
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Evict the version, unless something needs it."""
        body = NodeChoiceSerializer(data=request.data)
        check(body)
        node = _node(body.validated_data.get("node"))
        has_agent = NodeAgent.objects.filter(node=node).exists()
        remove = evict_version if has_agent else evict
        if remove(self.version, node) is not None:
            named = {"dataset": self.dataset.name, "ref": self.version.ref, "node": node.name}
            audit.record(
                user_of(request), "version.evicted", self.version, self.project,
                self.dataset, **named,
            )  # fmt: skip
        return Response(_lines(self.version), status=status.HTTP_202_ACCEPTED)


def _node(name: str | None) -> Node:
    if not name:
        return ensure_local_node()
    node = Node.objects.filter(name=name).first()
    if node is None:
        raise NodeUnknown(Sentence("cache.node_unknown", "There is no node {node}.", node=name))
    return node


def _lines(version: Version) -> list[dict[str, Any]]:
    local = ensure_local_node()
    records = {
        record.node_id: record for record in version.cache_records.select_related("node__cluster")
    }
    first = records.pop(local.pk, None) or CacheRecord(node=local, version=version)
    return [_line(record, _measured(record)) for record in (first, *records.values())]


def _measured(record: CacheRecord) -> Coverage | None:
    """Return what the node has now; None where its last report has to do.

    A version that expired is shown, and evicted, as it was when it was warmed.
    """
    if record.state == "warming":
        return None
    with suppress(NodeOutOfReach, *UNREADABLE):
        return backend_of(record.node).measure(record.version)
    return None


def _line(record: CacheRecord, measured: Coverage | None) -> dict[str, Any]:
    now = measured or record
    left = now.bytes_total - now.bytes_present
    is_moving = record.state == "warming" and record.rate_bytes_s > 0
    line = {
        "node": record.node.name,
        "state": record.state,
        "packs_total": now.packs_total,
        "packs_present": now.packs_present,
        "bytes_total": now.bytes_total,
        "bytes_present": now.bytes_present,
        "coverage": now.bytes_present / now.bytes_total if now.bytes_total else 0.0,
        "rate_bytes_s": record.rate_bytes_s,
        "eta_s": left / record.rate_bytes_s if is_moving else None,
        "error": record.error or None,
        "used_at": record.used_at,
    }
    return dict(CacheRecordSerializer(line).data)
