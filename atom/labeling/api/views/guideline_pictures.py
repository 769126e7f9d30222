"""Pictures of guidelines: add, list, read, delete."""

from __future__ import annotations

from typing import IO, Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseNotModified
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core import storage
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination
from atom.labeling.actions import guideline_pictures as actions
from atom.labeling.models import GuidelinePicture
from atom.labeling.models.guideline_pictures import MEDIA_TYPES

_SENT_TYPES: Final = (*MEDIA_TYPES, "image/gif")
# A picture never changes; each hour the access is checked anew.
_CACHING: Final = "private, max-age=3600"


class GuidelinePictureSerializer(serializers.ModelSerializer[GuidelinePicture]):
    """One picture; a guideline shows it by `![text](picture:ID)`."""

    sha256 = serializers.SerializerMethodField(help_text="The digest of the bytes that were sent.")
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    uses = serializers.SerializerMethodField(
        help_text="The number of ontology versions whose guideline names it."
    )

    class Meta:
        model = GuidelinePicture
        fields = (
            "id", "sha256", "media_type", "size_bytes", "width", "height", "uses", "created_by",
            "created_at",
        )  # fmt: skip

    def get_sha256(self, picture: GuidelinePicture) -> str:
        """Return the digest in hexadecimal."""
        return bytes(picture.sha256).hex()

    def get_uses(self, picture: GuidelinePicture) -> int:
        """Return the number of guidelines that name it."""
        return len(self.context["uses"][picture.pk])


class PictureParser(BaseParser):
    """Reads the body as it is, up to one byte over the limit."""

    media_type = "*/*"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        """Return the body as bytes; one that is too large is cut off and refused later."""
        return stream.read(actions.MAX_BYTES + 1)


class GuidelinePictureListView(ProjectScopedView, generics.GenericAPIView[GuidelinePicture]):
    """The project's guideline pictures."""

    serializer_class = GuidelinePictureSerializer
    pagination_class = KeysetPagination
    parser_classes = (PictureParser,)

    def get_queryset(self) -> QuerySet[GuidelinePicture]:
        """Return the project's pictures."""
        if getattr(self, "swagger_fake_view", False):
            return GuidelinePicture.objects.none()
        return GuidelinePicture.objects.filter(project=self.project).select_related("created_by")

    def _shown(self, pictures: list[GuidelinePicture]) -> list[dict[str, Any]]:
        uses = actions.names_of_uses(self.project, [picture.pk for picture in pictures])
        context = {"uses": uses}
        return list(GuidelinePictureSerializer(pictures, many=True, context=context).data)

    @extend_schema(
        responses=GuidelinePictureSerializer(many=True),
        operation_id="labelx_guideline_pictures_list",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        page = self.paginate_queryset(self.get_queryset()) or []
        return self.get_paginated_response(self._shown(page))

    @extend_schema(
        request=dict.fromkeys(_SENT_TYPES, OpenApiTypes.BINARY),
        responses={200: GuidelinePictureSerializer, 201: GuidelinePictureSerializer},
        operation_id="labelx_guideline_pictures_create",
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Store a picture: upright, without EXIF, at most 2048 pixels wide and high.

        Bytes that the project has already answer 200 with the same picture.
        """
        body = request.data if isinstance(request.data, bytes) else b""
        picture, is_new = actions.add_picture(self.project, user_of(request), body)
        return Response(
            self._shown([picture])[0],
            status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
        )


class _PictureView(ProjectScopedView, APIView):
    """Below `labelx/guideline-pictures/<id>/` of a project."""

    def find_picture(self, picture_id: UUID) -> GuidelinePicture:
        """Return the project's picture. Raises NotFound, also for those of other projects."""
        picture = GuidelinePicture.objects.filter(project=self.project, pk=picture_id).first()
        if picture is None:
            raise NotFound
        return picture


class GuidelinePictureView(_PictureView):
    """One guideline picture."""

    @extend_schema(responses={204: None}, operation_id="labelx_guideline_pictures_destroy")
    def delete(self, request: Request, project: str, picture_id: UUID) -> Response:
        """Delete the picture; refused while a guideline names it."""
        actions.delete_picture(self.find_picture(picture_id), user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class GuidelinePictureBytesView(_PictureView):
    """The bytes of a guideline picture."""

    @extend_schema(
        responses={(200, media_type): OpenApiTypes.BINARY for media_type in MEDIA_TYPES},
        operation_id="labelx_guideline_pictures_bytes",
    )
    def get(self, request: Request, project: str, picture_id: UUID) -> HttpResponse:
        """Return the picture for an `img` element; members of the project may read it."""
        picture = self.find_picture(picture_id)
        etag = f'"{bytes(picture.sha256).hex()}"'
        response: HttpResponse
        if request.headers.get("If-None-Match") == etag:
            response = HttpResponseNotModified()
        else:
            data = storage.objects().get(picture.key)
            response = HttpResponse(data, content_type=picture.media_type)
        response["ETag"] = etag
        response["Cache-Control"] = _CACHING
        response["X-Content-Type-Options"] = "nosniff"
        return response
