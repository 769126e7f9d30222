"""Retention and legal holds of a dataset."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.accounts.api.serializers import UserShortSerializer
from atom.core import clock
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.names import TextField
from atom.core.pagination import KeysetPagination
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import VersionSerializer
from atom.datasets.errors import HoldUnknown
from atom.datasets.models import Dataset, LegalHold, resolve_ref
from atom.datasets.retention.actions.retention import (
    due_versions,
    place_hold,
    release_hold,
    restore_version,
    set_retention,
)
from atom.datasets.retention.engines.retention import Policy
from atom.datasets.states import RETENTION_KINDS
from atom_sdk.sentences import Sentence

_SHOWN_DUE = 100
_MOST = 1_000_000


class RetentionSerializer(serializers.Serializer[Any]):
    """Which versions of `main` stay by themselves, and which would expire in the next night."""

    kind = serializers.ChoiceField(choices=RETENTION_KINDS)
    limit = serializers.IntegerField(
        min_value=1,
        max_value=_MOST,
        allow_null=True,
        default=None,
        help_text="How many versions for `last`, how many days for `days`, null for `all`.",
    )
    due_count = serializers.IntegerField(read_only=True)
    due = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="The first of them, oldest first."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a limit where the kind has one."""
        if (attrs["kind"] == "all") != (attrs["limit"] is None):
            if attrs["kind"] == "all":
                reason = Sentence("datasets.limit_must_be_null", "It must be null for all.")
            else:
                reason = Sentence(
                    "datasets.limit_needed", "It is needed for {kind}.", kind=attrs["kind"]
                )
            raise serializers.ValidationError({"limit": [reason]})
        return attrs


class HoldSerializer(serializers.ModelSerializer[LegalHold]):
    """One legal hold; `ref` is null when the whole dataset is held."""

    ref = serializers.SerializerMethodField()
    placed_by = UserShortSerializer(read_only=True, allow_null=True)
    released_by = UserShortSerializer(read_only=True, allow_null=True)

    class Meta:
        model = LegalHold
        fields = (
            "id",
            "ref",
            "reason",
            "placed_by",
            "created_at",
            "released_by",
            "released_at",
        )
        read_only_fields = fields

    def get_ref(self, hold: LegalHold) -> str | None:
        """Return the one version that is held."""
        return hold.version.ref if hold.version else None


class NewHoldSerializer(serializers.Serializer[Any]):
    """The dataset or version to hold, and the reason."""

    reason = TextField(max_length=2000)
    ref = TextField(max_length=64, required=False, allow_null=True, default=None)


class RetentionView(DatasetScopedView, APIView):
    """The retention of a dataset."""

    required_roles: ClassVar[dict[str, str]] = {"PUT": "admin"}

    @extend_schema(responses=RetentionSerializer, operation_id="dataset_retention_retrieve")
    def get(self, request: Request, project: str, dataset: str) -> Response:
        """Return the policy and the versions that it would expire."""
        return Response(_retention_of(self.dataset))

    @extend_schema(
        request=RetentionSerializer,
        responses=RetentionSerializer,
        operation_id="dataset_retention_set",
    )
    def put(self, request: Request, project: str, dataset: str) -> Response:
        """Set the policy; what falls out expires in the next night."""
        body = RetentionSerializer(data=request.data)
        check(body)
        found = set_retention(self.dataset, Policy(**body.validated_data), user_of(request))
        return Response(_retention_of(found))


def _retention_of(dataset: Dataset) -> dict[str, Any]:
    policy = Policy(dataset.retention, dataset.retention_limit)
    due = due_versions(dataset, policy, clock.now())
    return {
        "kind": policy.kind,
        "limit": policy.limit,
        "due_count": due.count(),
        "due": [version.ref for version in due[:_SHOWN_DUE]],
    }


class VersionRestoreView(DatasetScopedView, APIView):
    """Taking back that a version expired."""

    required_roles: ClassVar[dict[str, str]] = {"POST": "admin"}

    @extend_schema(
        request=None, responses=VersionSerializer, operation_id="dataset_version_restore"
    )
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Keep an expired version again, as long as its files are there."""
        version = restore_version(self.version, user_of(request))
        return Response(VersionSerializer(version).data)


class HoldListView(DatasetScopedView, generics.ListAPIView[LegalHold]):
    """The legal holds of a dataset."""

    required_roles: ClassVar[dict[str, str]] = {"POST": "admin"}
    serializer_class = HoldSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ()

    def get_queryset(self) -> QuerySet[LegalHold]:
        """Return the holds, released ones too, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return LegalHold.objects.none()
        return self.dataset.holds.select_related("version", "placed_by", "released_by")

    @extend_schema(request=NewHoldSerializer, responses={201: HoldSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Keep the dataset, or the version of `ref`, until the hold is released."""
        body = NewHoldSerializer(data=request.data)
        check(body)
        ref = body.validated_data["ref"]
        version = resolve_ref(self.dataset, ref) if ref else None
        hold = place_hold(self.dataset, version, body.validated_data["reason"], user_of(request))
        return Response(HoldSerializer(hold).data, status=status.HTTP_201_CREATED)


class HoldReleaseView(DatasetScopedView, APIView):
    """The end of a legal hold."""

    required_roles: ClassVar[dict[str, str]] = {"POST": "admin"}

    @extend_schema(request=None, responses=HoldSerializer, operation_id="dataset_hold_release")
    def post(self, request: Request, project: str, dataset: str, hold_id: UUID) -> Response:
        """Release the hold; a released one stays as it is."""
        holds = self.dataset.holds.select_related("version", "dataset__project", "placed_by")
        found = holds.filter(pk=hold_id).first()
        if found is None:
            raise HoldUnknown
        return Response(HoldSerializer(release_hold(found, user_of(request))).data)
