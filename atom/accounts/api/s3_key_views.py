"""S3 key pairs: what boto3, s5cmd, rclone, Fluid or Alluxio read versions with."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import actions, permissions
from atom.accounts.api.mixins import ScopedView, refuse_service_account, token_of, user_of
from atom.accounts.api.serializers import NewS3KeyPairSerializer, S3KeyPairSerializer
from atom.accounts.models import S3KeyPair
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination
from atom_sdk.sentences import Sentence


class S3KeyPairListView(ScopedView, generics.ListCreateAPIView[S3KeyPair]):
    """The caller's S3 key pairs."""

    serializer_class = S3KeyPairSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[S3KeyPair]:
        """Return the caller's pairs that are not revoked."""
        if getattr(self, "swagger_fake_view", False):
            return S3KeyPair.objects.none()
        own = S3KeyPair.objects.filter(user=user_of(self.request), revoked_at=None)
        token = token_of(self.request)
        if token is not None and token.project_id is not None:
            own = own.filter(project=token.project_id)
        return own.select_related("project")

    @extend_schema(request=S3KeyPairSerializer, responses={201: NewS3KeyPairSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a pair. Its secret is in this answer only, so the call is not replayable."""
        _refuse_escalation(request)
        refuse_service_account(user_of(request))
        body = S3KeyPairSerializer(data=request.data, context=self.get_serializer_context())
        check(body)
        permissions.require_project(token_of(request), body.validated_data["project"])
        new = actions.create_s3_key_pair(user_of(request), **body.validated_data)
        data = {**S3KeyPairSerializer(new.pair).data, "secret_access_key": new.secret}
        return Response(data, status=status.HTTP_201_CREATED)


def _refuse_escalation(request: Request) -> None:
    """A token may not make a key: it could outlive the token."""
    token = token_of(request)
    if token is not None and "admin" not in token.scopes:
        raise permissions.ScopeMissing(
            Sentence(
                "accounts.key_needs_admin_scope",
                "Only a session or a token with scope admin makes keys.",
            )
        )


class S3KeyPairView(ScopedView, APIView):
    """One S3 key pair."""

    @extend_schema(responses={204: None}, operation_id="s3_keys_revoke")
    def delete(self, request: Request, s3_key_id: str) -> Response:
        """Revoke the pair; the endpoint refuses it within a minute."""
        pair = S3KeyPair.objects.filter(user=user_of(request), pk=s3_key_id).first()
        if pair is None:
            raise NotFound
        permissions.require_project(token_of(request), pair.project)
        actions.revoke_s3_key_pair(pair, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
