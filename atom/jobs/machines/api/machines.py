"""`machines/`: machines that can run jobs, their free resources and their runs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ScopedView, token_of, user_of
from atom.accounts.api.people_views import InstallationView
from atom.clusters.actions import cordon, uncordon
from atom.core.bodies import check
from atom.core.names import TextField
from atom.core.query import refuse_unknown
from atom.jobs.machines.actions.machines import STATES, Machine, machines_for

_MAX_REASON = 200


class HeldSlotsSerializer(serializers.Serializer[Any]):
    """CPUs, memory and GPUs."""

    cpus = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()
    gpus = serializers.IntegerField()


class MachineRunSerializer(serializers.Serializer[Any]):
    """A run that holds slots on the machine."""

    id = serializers.UUIDField(source="attempt.run_id")
    number = serializers.IntegerField(source="attempt.run.number")
    name = serializers.CharField(source="attempt.run.name")
    project = serializers.CharField(source="attempt.run.project.slug")
    state = serializers.CharField(source="attempt.run.state")
    created_by = serializers.CharField(
        source="attempt.run.created_by.username", allow_null=True, default=None
    )
    started_at = serializers.DateTimeField(source="attempt.started_at", allow_null=True)
    cpus = serializers.IntegerField(source="reservation.cpus")
    memory_bytes = serializers.IntegerField(source="reservation.memory_bytes")
    gpus = serializers.IntegerField(source="reservation.gpus")
    gpu_ids = serializers.ListField(
        source="reservation.gpu_ids",
        child=serializers.CharField(),
        help_text="As NVIDIA names them.",
    )


class ElsewhereSerializer(HeldSlotsSerializer):
    """Resources that runs hold in projects that the caller may not see."""

    runs = serializers.IntegerField()


class GpuSerializer(serializers.Serializer[Any]):
    """One GPU of a machine."""

    id = serializers.CharField()
    memory_bytes = serializers.IntegerField(allow_null=True)


class CordonSerializer(serializers.Serializer[Any]):
    """Why a machine takes no new runs."""

    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class MachineSerializer(serializers.Serializer[Any]):
    """A machine; the object is a `Machine`."""

    id = serializers.UUIDField(source="node.pk")
    name = serializers.CharField(source="node.name")
    cluster = serializers.CharField(source="node.cluster.name")
    state = serializers.ChoiceField(
        choices=STATES,
        help_text="ready; cordoned: it takes no new runs; silent: it gave no sign for two minutes.",
    )
    since = serializers.DateTimeField(allow_null=True, help_text="Since when it is in this state.")
    heartbeat_at = serializers.DateTimeField(source="node.heartbeat_at", allow_null=True)
    cpus = serializers.IntegerField(source="node.cpu_count")
    memory_bytes = serializers.IntegerField(source="node.memory_bytes")
    gpu_model = serializers.CharField(source="node.gpu_model")
    gpus = serializers.SerializerMethodField()
    used = serializers.SerializerMethodField()
    disk_total_bytes = serializers.IntegerField(
        source="node.disk_total_bytes",
        help_text="The size of the disk with its cache; 0 if unknown.",
    )
    disk_free_bytes = serializers.IntegerField(source="node.disk_free_bytes")
    cache_bytes = serializers.IntegerField(
        help_text="The size of versions in its cache; packs that versions share count for each."
    )
    cached_versions = serializers.IntegerField()
    cordon = serializers.SerializerMethodField()
    runs = MachineRunSerializer(source="holdings", many=True)
    elsewhere = ElsewhereSerializer()

    @extend_schema_field(GpuSerializer(many=True))
    def get_gpus(self, machine: Machine) -> list[dict[str, Any]]:
        """Return each GPU with its memory; null if the driver does not report it."""
        node = machine.node
        memory = node.gpu_memory_bytes
        # An older probe left out unknown memories, so the rest cannot be matched with GPUs.
        if len(memory) != len(node.gpu_ids):
            memory = [0] * len(node.gpu_ids)
        pairs = zip(node.gpu_ids, memory, strict=True)
        return [{"id": gpu, "memory_bytes": told or None} for gpu, told in pairs]

    @extend_schema_field(HeldSlotsSerializer)
    def get_used(self, machine: Machine) -> dict[str, int]:
        """Return what all runs hold together."""
        node = machine.node
        return {
            "cpus": node.used_cpus,
            "memory_bytes": node.used_memory_bytes,
            "gpus": node.used_gpus,
        }

    @extend_schema_field(CordonSerializer(allow_null=True))
    def get_cordon(self, machine: Machine) -> dict[str, Any] | None:
        """Return why it takes no new runs, null if it takes them."""
        node = machine.node
        if node.schedulable:
            return None
        return {"reason": node.cordon_reason, "by": node.cordoned_by, "at": node.cordoned_at}


class MachinesSerializer(serializers.Serializer[Any]):
    """All machines of the installation."""

    results = MachineSerializer(many=True)


class CordonBodySerializer(serializers.Serializer[Any]):
    """Why new runs are kept off a machine."""

    reason = TextField(
        max_length=_MAX_REASON, help_text="Shown to everybody, on the machine's card."
    )


def _answer(request: Request) -> Response:
    token = token_of(request)
    rows = machines_for(user_of(request), token.project_id if token else None)
    return Response(MachinesSerializer({"results": rows}).data)


class MachinesView(ScopedView, APIView):
    """`machines/`."""

    @extend_schema(operation_id="machines_list", responses=MachinesSerializer)
    def get(self, request: Request) -> Response:
        """List the machines; runs of projects that the caller may not see are only counted."""
        refuse_unknown(request, ())
        return _answer(request)


class CordonView(InstallationView, APIView):
    """`machines/<id>/cordon/`, for administrators of the installation."""

    @extend_schema(
        operation_id="machine_cordon", request=CordonBodySerializer, responses=MachinesSerializer
    )
    def put(self, request: Request, machine_id: UUID) -> Response:
        """Keep new runs off the machine; runs that are there go on."""
        body = CordonBodySerializer(data=request.data)
        check(body)
        cordon(machine_id, user_of(request), body.validated_data["reason"])
        return _answer(request)

    @extend_schema(
        operation_id="machine_uncordon", request=None, responses={200: MachinesSerializer}
    )
    def delete(self, request: Request, machine_id: UUID) -> Response:
        """Let the machine take runs again."""
        uncordon(machine_id, user_of(request))
        return _answer(request)
