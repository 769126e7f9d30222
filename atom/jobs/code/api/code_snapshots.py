"""Code snapshots: announced, uploaded, checked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, ScopedView, authorize, user_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.names import TextField
from atom.jobs.code.actions import code
from atom.jobs.models import CodeSnapshot


class CodeChangesSerializer(serializers.Serializer[Any]):
    """Changes of the working tree since its commit."""

    patch = TextField(max_length=1 << 20, allow_blank=True, trim_whitespace=False)
    truncated = serializers.BooleanField(required=False, default=False)


class CodeRequestSerializer(serializers.Serializer[Any]):
    """A code snapshot to upload."""

    digest = serializers.RegexField(r"^[0-9a-f]{64}$")
    size_bytes = serializers.IntegerField(min_value=1, max_value=512 << 20)
    files_count = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, default=0
    )
    git = serializers.DictField(required=False, allow_null=True, default=None)
    changes = CodeChangesSerializer(
        required=False, allow_null=True, default=None, help_text="Since the commit of `git`."
    )


class CodeStateSerializer(serializers.Serializer[Any]):
    """Where to put the code, if it is not there."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=["present", "upload"])
    put_url = serializers.CharField(allow_null=True)


class CodeSnapshotsView(ProjectScopedView, APIView):
    """`projects/<project>/code-snapshots/`."""

    @extend_schema(
        operation_id="code_snapshots_create",
        request=CodeRequestSerializer,
        responses={201: CodeStateSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        """Announce a tar.gz of code; the answer says where to put it."""
        serializer = CodeRequestSerializer(data=request.data)
        check(serializer)
        snapshot = code.announce(self.project, **serializer.validated_data)
        return Response(_state_of(snapshot), status=201)


class CodeCompleteView(ScopedView, APIView):
    """`code-snapshots/<id>/complete/`."""

    @extend_schema(
        operation_id="code_snapshots_complete", request=None, responses=CodeStateSerializer
    )
    def post(self, request: Request, snapshot_id: UUID, project: str = "") -> Response:
        """Have the uploaded code checked."""
        found = CodeSnapshot.objects.filter(pk=snapshot_id).select_related("project__unit").first()
        if found is None:
            raise NotFound
        authorize(request, found.project, "researcher")
        return Response(_state_of(code.complete(snapshot_id, user_of(request))))


def _state_of(snapshot: CodeSnapshot) -> dict[str, Any]:
    return {
        "id": str(snapshot.pk),
        "state": "present" if snapshot.ready else "upload",
        "put_url": None if snapshot.ready else code.put_url(snapshot),
    }
