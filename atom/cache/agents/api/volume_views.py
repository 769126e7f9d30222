"""Volumes of a node, as its agent tells of them. `jobs` opens them, since it knows the runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.cache.agents.actions.volumes import hold_volumes, index_of
from atom.cache.agents.api.agent_bodies import HeldVolumesSerializer
from atom.cache.agents.api.agent_views import AgentView
from atom.core.bodies import check
from atom.core.streaming import streamed

_PIECE_BYTES = 1 << 20


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


class HeldVolumesView(AgentView):
    """`agent/volumes/held/`."""

    @extend_schema(
        operation_id="agent_volumes_held",
        request=HeldVolumesSerializer,
        responses=inline_serializer("AgentVolumesHeld", {"ok": serializers.BooleanField()}),
    )
    def post(self, request: Request) -> Response:
        """Note all volumes of the node; those that are not named are gone."""
        body = HeldVolumesSerializer(data=request.data)
        check(body)
        hold_volumes(self.agent, **body.validated_data)
        return Response({"ok": True})


class VolumeIndexView(AgentView):
    """`agent/volumes/<volume>/index/`."""

    @extend_schema(
        operation_id="agent_volume_index",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, volume: str) -> StreamingHttpResponse:
        """Return the index of the samples of a volume of this node, as a file."""
        path = index_of(self.agent, volume)
        response = StreamingHttpResponse(
            streamed(_pieces(path)), content_type="application/octet-stream"
        )
        # An agent tells by it whether it has the whole file.
        response["Content-Length"] = str(path.stat().st_size)
        return response
