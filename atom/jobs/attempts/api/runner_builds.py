"""Reports of the pod that builds an environment: `Authorization: Bearer atombuild_…`.

The token is good for one build. Every request may arrive twice.
"""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.authentication import bearer_of
from atom.core.bodies import JSONParser
from atom.core.names import TextField
from atom.jobs.attempts.api.runner import MAX_BIGINT, OK, RunnerUser
from atom.jobs.errors import RunnerTokenInvalid
from atom.jobs.models import EnvironmentBuild
from atom.jobs.runtimes.actions import cluster_builds
from atom_sdk.runner.environment_build import LARGEST_ARCHIVE_BYTES

_MAX_LOG_CHARACTERS = 500_000
_SHA256 = r"^[0-9a-f]{64}$"


class BuilderAuthentication(BaseAuthentication):
    """Authenticates the pod of a build; `request.auth` is its EnvironmentBuild."""

    def authenticate(self, request: Request) -> tuple[RunnerUser, EnvironmentBuild]:
        """Return the build of the token. Raises RunnerTokenInvalid."""
        token = bearer_of(request) or ""
        build = None
        if token.startswith(cluster_builds.TOKEN_PREFIX):
            build = cluster_builds.find_by_token(token)
        if build is None:
            raise RunnerTokenInvalid
        return RunnerUser(), build

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return 'Bearer realm="atom builder"'


class IsBuilder(BasePermission):
    """Only pods that build an environment."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request carries a build."""
        return isinstance(request.auth, EnvironmentBuild)


class BuildView(APIView):
    """Base of the builder's resources."""

    authentication_classes = (BuilderAuthentication,)
    permission_classes = (IsBuilder,)
    parser_classes = (JSONParser,)
    throttle_classes = ()

    @property
    def build(self) -> EnvironmentBuild:
        """Return the build that the token belongs to."""
        return cast("EnvironmentBuild", self.request.auth)

    def checked(self, kind: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        """Return the body's values. Raises ValidationError."""
        serializer = kind(data=request.data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)


class BuildLogSerializer(serializers.Serializer[Any]):
    """The last lines of a build."""

    text = TextField(max_length=_MAX_LOG_CHARACTERS, allow_blank=True)


class ArchiveSerializer(serializers.Serializer[Any]):
    """A packed environment."""

    sha256 = serializers.RegexField(_SHA256)
    archive_bytes = serializers.IntegerField(min_value=1, max_value=LARGEST_ARCHIVE_BYTES)


class BuiltSerializer(ArchiveSerializer):
    """A packed environment that was sent: its Python, its machine, its size when unpacked."""

    python = TextField(max_length=20)
    machine = TextField(max_length=40)
    size_bytes = serializers.IntegerField(min_value=0, max_value=MAX_BIGINT)


class BuildAddressSerializer(serializers.Serializer[Any]):
    """Where to PUT the archive."""

    url = serializers.CharField()


class BuildLogView(BuildView):
    """`runner/environments/log/`."""

    @extend_schema(operation_id="runner_build_log", request=BuildLogSerializer, responses=OK)
    def post(self, request: Request) -> Response:
        """Keep the last lines of the build for the runs that wait."""
        cluster_builds.note_log(self.build, self.checked(BuildLogSerializer, request)["text"])
        return Response({"ok": True})


class BuildUploadView(BuildView):
    """`runner/environments/upload/`."""

    @extend_schema(
        operation_id="runner_build_upload",
        request=ArchiveSerializer,
        responses=BuildAddressSerializer,
    )
    def post(self, request: Request) -> Response:
        """Return an address for the archive, good for an hour."""
        self.checked(ArchiveSerializer, request)
        return Response({"url": cluster_builds.upload_address(self.build)})


class BuildFinishView(BuildView):
    """`runner/environments/finish/`."""

    @extend_schema(operation_id="runner_build_finish", request=BuiltSerializer, responses=OK)
    def post(self, request: Request) -> Response:
        """Have the archive verified that was sent."""
        cluster_builds.note_sent(self.build, self.checked(BuiltSerializer, request))
        return Response({"ok": True})


class BuildFailView(BuildView):
    """`runner/environments/fail/`."""

    @extend_schema(operation_id="runner_build_fail", request=BuildLogSerializer, responses=OK)
    def post(self, request: Request) -> Response:
        """End the build, and with it the runs that wait."""
        text = self.checked(BuildLogSerializer, request)["text"]
        cluster_builds.fail(self.build, text, is_log=True)
        return Response({"ok": True})
