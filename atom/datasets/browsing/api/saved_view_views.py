"""Saved views of a dataset."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.fields import SlugField
from atom.accounts.api.mixins import user_of
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.names import TextField
from atom.core.pagination import KeysetPagination
from atom.datasets.browsing.actions.saved_views import change_view, create_view, delete_view
from atom.datasets.browsing.queries import find_view, view_query
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.models import SavedView
from atom_sdk.manifests.query import MAX_TEXT_CHARACTERS
from atom_sdk.packs.paths import MAX_PATH_BYTES
from atom_sdk.sentences import Sentence

_MAX_SPLITS = 20


class SavedViewSerializer(serializers.ModelSerializer[SavedView]):
    """One view; `query` is all that it asks as one query."""

    query = serializers.SerializerMethodField()
    splits = serializers.ListField(child=serializers.CharField())
    created_by = UserShortSerializer(allow_null=True)

    class Meta:
        model = SavedView
        fields = (
            "id", "name", "where", "prefix", "splits", "query",
            "created_by", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_query(self, view: SavedView) -> str:
        """Return the text, as it is given to `where`."""
        return str(view_query(view))


class NewSavedViewSerializer(serializers.Serializer[Any]):
    """A name and a question."""

    name = SlugField()
    where = TextField(
        max_length=MAX_TEXT_CHARACTERS,
        allow_blank=True,
        default="",
        help_text="A condition as after SQL's WHERE: label = 'cat'.",
    )
    prefix = TextField(
        max_length=MAX_PATH_BYTES,
        trim_whitespace=False,
        allow_blank=True,
        default="",
        help_text="Only paths that begin with this.",
    )
    splits = serializers.ListField(
        child=TextField(max_length=100),
        max_length=_MAX_SPLITS,
        default=list,
        help_text="Only these splits; files without a split are in train.",
    )


class SavedViewChangesSerializer(NewSavedViewSerializer):
    """The fields of a view to change; the others stay."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change of nothing."""
        if not attrs:
            raise serializers.ValidationError(
                {"name": [Sentence("fields.nothing_to_change", "Say what is to be changed.")]}
            )
        return attrs


class SavedViewListView(DatasetScopedView, generics.ListAPIView[SavedView]):
    """The views of a dataset."""

    serializer_class = SavedViewSerializer
    pagination_class = KeysetPagination
    keyset = ("name",)
    filters = ()

    def get_queryset(self) -> QuerySet[SavedView]:
        """Return the views by name."""
        if getattr(self, "swagger_fake_view", False):
            return SavedView.objects.none()
        return self.dataset.saved_views.select_related("created_by")

    @extend_schema(request=NewSavedViewSerializer, responses={201: SavedViewSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Save a view; the query is checked, and an error names its position."""
        body = NewSavedViewSerializer(data=request.data)
        check(body)
        view = create_view(self.dataset, body.validated_data, user_of(request))
        return Response(SavedViewSerializer(view).data, status=status.HTTP_201_CREATED)


class SavedViewView(DatasetScopedView, APIView):
    """One view."""

    @extend_schema(responses=SavedViewSerializer, operation_id="saved_view_retrieve")
    def get(self, request: Request, project: str, dataset: str, view: str) -> Response:
        """Return the view."""
        return Response(SavedViewSerializer(find_view(self.dataset, view)).data)

    @extend_schema(
        request=SavedViewChangesSerializer(partial=True),
        responses=SavedViewSerializer,
        operation_id="saved_view_change",
    )
    def patch(self, request: Request, project: str, dataset: str, view: str) -> Response:
        """Rename the view or change its question; runs that used it stay as they are."""
        body = SavedViewChangesSerializer(data=request.data, partial=True)
        check(body)
        changed = change_view(self.dataset, view, body.validated_data, user_of(request))
        return Response(SavedViewSerializer(changed).data)

    @extend_schema(responses={204: None}, operation_id="saved_view_destroy")
    def delete(self, request: Request, project: str, dataset: str, view: str) -> Response:
        """Take the view away; runs that used it stay as they are."""
        delete_view(self.dataset, view, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
