"""Packs of a dataset that are corrupt and not served."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import generics, serializers

from atom.accounts.api.serializers import UserShortSerializer
from atom.core.pagination import KeysetPagination
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.models import Pack
from atom.datasets.packs.corrupt_packs import IN_STORE, IN_UPLOAD, describe, quarantined_packs


class PackPushSerializer(serializers.Serializer[Any]):
    """The upload that brought a pack."""

    id = serializers.UUIDField()
    created_by = UserShortSerializer(allow_null=True)
    created_at = serializers.DateTimeField()


class QuarantinedPackSerializer(serializers.Serializer[Any]):
    """A corrupt pack: the reason, the time, the push that sent it, and the next step."""

    digest = serializers.CharField(source="pack.digest")
    size_bytes = serializers.IntegerField(source="pack.size_bytes")
    reason = serializers.CharField(source="pack.reason")
    quarantined_at = serializers.DateTimeField(source="pack.updated_at")
    found_in = serializers.ChoiceField(
        choices=[IN_UPLOAD, IN_STORE],
        help_text="upload: refused on its way in. store: it was good once, versions read it.",
    )
    push = PackPushSerializer()
    files_count = serializers.IntegerField(help_text="Files in the pack; 0 for a refused one.")
    paths = serializers.ListField(child=serializers.CharField(), help_text="The first few files.")
    action = serializers.CharField(help_text="The next step for a person.")


class QuarantinedPackListView(DatasetScopedView, generics.ListAPIView[Any]):
    """The corrupt packs of a dataset, latest first."""

    serializer_class = QuarantinedPackSerializer
    pagination_class = KeysetPagination
    keyset = ("-updated_at", "-id")

    def get_queryset(self) -> QuerySet[Pack]:
        """Return the packs that pushes brought into this dataset."""
        if getattr(self, "swagger_fake_view", False):
            return Pack.objects.none()
        return quarantined_packs(self.dataset)

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return a page of packs with what is known of them."""
        return describe(self.dataset, super().paginate_queryset(queryset) or [])
