"""`agent/volumes/`: the driver of a node asks for an input of a pod's run."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.cache.agents.api.agent_bodies import VolumeIdField
from atom.cache.agents.api.agent_views import AgentView
from atom.core.bodies import check
from atom.core.names import TextField
from atom.jobs.volumes.actions.volumes import VolumeClaim, open_input

MODES = ("packs", "view")


class VolumeClaimSerializer(serializers.Serializer[Any]):
    """A pod and the input of its run that it asks for."""

    volume = VolumeIdField()
    version = serializers.UUIDField()
    input = TextField(max_length=63)
    mode = serializers.ChoiceField(choices=MODES)
    namespace = TextField(max_length=63)
    pod = TextField(max_length=253)
    pod_uid = TextField(max_length=64)


class OpenVolumeSerializer(serializers.Serializer[Any]):
    """The packs of an input, and where the node keeps them."""

    project = serializers.UUIDField(help_text="The name of the project's folder on the node.")
    reference = serializers.CharField(help_text="Such as digits@v3.")
    packs = serializers.ListField(child=serializers.CharField(), help_text="All of them, as hex.")
    problem = serializers.CharField(
        help_text="Why packs that the node lacks do not come; empty if they do."
    )


class AgentVolumesView(AgentView):
    """`agent/volumes/`."""

    @extend_schema(
        operation_id="agent_volume_open",
        request=VolumeClaimSerializer,
        responses=OpenVolumeSerializer,
    )
    def post(self, request: Request) -> Response:
        """Open an input for a pod of its run; the cluster and the runs say whose pod it is."""
        body = VolumeClaimSerializer(data=request.data)
        check(body)
        volume = open_input(self.agent, VolumeClaim(**body.validated_data))
        version = volume.row.version
        answer = {
            "project": version.dataset.project_id,
            "reference": f"{version.dataset.name}@{version.ref}",
            "packs": volume.packs,
            "problem": volume.problem,
        }
        return Response(OpenVolumeSerializer(answer).data)
