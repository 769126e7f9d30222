"""How the process in a pod becomes a rank: by the token that its cluster gave the pod."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.authentication import bearer_of
from atom.clusters.kubernetes.pod_identity import MAX_TOKEN_CHARACTERS
from atom.core.bodies import JSONParser
from atom.core.errors import NotFound
from atom.core.names import TextField
from atom.jobs.attempts.actions.joining import Answer, join
from atom.jobs.errors import RankNotAccepted
from atom.jobs.executors.base import Claim
from atom.jobs.executors.kubernetes.orders import layer_of
from atom_sdk.sentences import Sentence

MAX_RANK = 100_000


class ClaimSerializer(serializers.Serializer[Any]):
    """A pod, as it describes itself."""

    placement = serializers.UUIDField()
    rank = serializers.IntegerField(min_value=0, max_value=MAX_RANK)
    pod = TextField(max_length=253)
    pod_uid = TextField(max_length=64)


class JoinedSerializer(serializers.Serializer[Any]):
    """Whether the process starts, stops, or asks again in `after_s` seconds."""

    answer = serializers.ChoiceField(choices=[str(one) for one in Answer])
    reason = serializers.CharField(allow_blank=True)
    after_s = serializers.IntegerField()
    token = serializers.CharField(
        allow_blank=True, help_text="The token of the attempt, if it starts."
    )
    job = serializers.DictField(allow_null=True)


class JoinView(APIView):
    """`runner/join/`: `Authorization: Bearer` and the pod's own token of its cluster."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="runner_join", request=ClaimSerializer, responses=JoinedSerializer, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Let a pod start as a rank of its run; its cluster says whether it is that pod."""
        token = bearer_of(request) or ""
        if not token or len(token) > MAX_TOKEN_CHARACTERS:
            raise RankNotAccepted
        serializer = ClaimSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        claim = Claim(token, data["rank"], data["pod"], data["pod_uid"])
        return Response(JoinedSerializer(join(data["placement"], claim)).data)


class LayerView(APIView):
    """`runner/layers/<sha256>/`: the program that pods run, which holds no secret."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="runner_layer",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        auth=[],
    )
    def get(self, request: Request, sha256: str) -> HttpResponse:
        """Return the runner, pip or the SDK's wheel, named by its SHA-256 (hex)."""
        path = layer_of(sha256)
        if path is None:
            raise NotFound(
                Sentence("jobs.layer_unknown", "This server has another version of the runner.")
            )
        return HttpResponse(path.read_bytes(), content_type="application/octet-stream")
