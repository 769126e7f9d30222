"""The tiles of an item's picture: how far they are, and where they are."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.media import tiles_url
from atom.datasets.models import PicturePyramid
from atom.datasets.pyramids.actions.making import ask_for_pyramid, key_of
from atom.datasets.pyramids.engines.reasons import REASONS
from atom.datasets.states import PYRAMID_STATES
from atom.labeling.actions.sizes import place_of
from atom.labeling.api.scoped import ItemView

NONE = "none"


class TilesSerializer(serializers.Serializer[Any]):
    """The pyramid of a picture. Level 0 is one tile; the last one has every pixel."""

    state = serializers.ChoiceField(choices=[NONE, *PYRAMID_STATES])
    progress = serializers.IntegerField(help_text="In per cent, while the tiles are made.")
    reason = serializers.ChoiceField(
        choices=["", *REASONS], help_text="Why no tiles could be made."
    )
    url = serializers.CharField(
        allow_null=True, help_text="The address of a tile, with {level}, {x} and {y}."
    )
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    tile = serializers.IntegerField(allow_null=True, help_text="The side of a tile, in pixels.")
    levels = serializers.IntegerField(allow_null=True)
    format = serializers.ChoiceField(choices=["jpg", "png"], allow_null=True)
    bits = serializers.IntegerField(
        allow_null=True, help_text="8, or 16: then tiles are PNG files of 16 bits."
    )
    channels = serializers.IntegerField(allow_null=True)
    low = serializers.IntegerField(allow_null=True, help_text="The least value of the picture.")
    high = serializers.IntegerField(allow_null=True)
    zero = serializers.IntegerField(
        allow_null=True, help_text="The value that a tile stores as 0; below 0 for signed pixels."
    )


class ItemTilesView(ItemView):
    """The tiles of one item's picture."""

    @extend_schema(responses=TilesSerializer, operation_id="labelx_items_tiles")
    def get(self, request: Request, item_id: UUID) -> Response:
        """Return how far the tiles are and where they are."""
        item = self.item
        rows = PicturePyramid.objects.filter(project=self.find_project(), digest=item.digest)
        return Response(_shown(rows.first()))

    @extend_schema(request=None, responses=TilesSerializer, operation_id="labelx_items_tiles_make")
    def post(self, request: Request, item_id: UUID) -> Response:
        """Have the tiles made, also when that failed before; asking again changes nothing.

        A picture that stays at its source has none.
        """
        if "pack" not in self.item.media:
            return Response(_shown(None))
        project = self.find_project()
        return Response(_shown(ask_for_pyramid(project.pk, place_of(self.item))))


def _shown(pyramid: PicturePyramid | None) -> dict[str, Any]:
    facts = pyramid.facts if pyramid else {}
    names = (
        "width", "height", "tile", "levels", "format", "bits", "channels", "low", "high", "zero",
    )  # fmt: skip
    is_ready = pyramid is not None and pyramid.state == "ready"
    return {
        "state": pyramid.state if pyramid else NONE,
        "progress": pyramid.progress if pyramid else 0,
        "reason": pyramid.reason if pyramid else "",
        "url": tiles_url(key_of(pyramid), pyramid.stored_bytes) if pyramid and is_ready else None,
        **{name: facts.get(name) for name in names},
    }
