"""Pushing: uploads, and commits of what was uploaded."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.models import Upload
from atom.datasets.packs.actions.uploads import (
    UploadRequest,
    complete_upload,
    headers_of_parts,
    parts_done,
    parts_through_us,
    presign_parts,
    start_upload,
)
from atom.datasets.packs.api.upload_serializers import (
    CompleteUploadSerializer,
    NewUploadSerializer,
    PartNumbersSerializer,
    PartUrlsSerializer,
    UploadSerializer,
)
from atom_sdk.sentences import Sentence


def _rendered(upload: Upload) -> dict[str, object]:
    # Which parts have arrived is the object store's knowledge, asked per upload.
    upload.parts_done = parts_done(upload)  # type: ignore[attr-defined]
    return dict(UploadSerializer(upload).data)


class UploadScopedView(DatasetScopedView):
    """A view of one upload."""

    def upload(self, upload_id: UUID) -> Upload:
        """Return the upload. Raises NotFound."""
        uploads = Upload.objects.filter(dataset=self.dataset).select_related("dataset__project")
        found = uploads.filter(pk=upload_id).first()
        if found is None:
            raise NotFound(Sentence("datasets.upload_unknown", "The dataset has no such upload."))
        return found


class UploadListView(DatasetScopedView, APIView):
    """Beginning and resuming uploads."""

    write_scope = "push"

    @extend_schema(request=NewUploadSerializer, responses={201: UploadSerializer})
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return the upload of this digest: new, resumed, or with nothing to send."""
        body = NewUploadSerializer(data=request.data)
        check(body)
        wanted = UploadRequest(**body.validated_data)
        upload = start_upload(self.dataset, wanted, user_of(request))
        return Response(_rendered(upload), status=status.HTTP_201_CREATED)


class UploadView(UploadScopedView, APIView):
    """One upload."""

    @extend_schema(responses=UploadSerializer, operation_id="upload_retrieve")
    def get(self, request: Request, project: str, dataset: str, upload_id: UUID) -> Response:
        """Return the upload's state."""
        return Response(_rendered(self.upload(upload_id)))


class UploadPartsView(UploadScopedView, APIView):
    """Addresses of parts."""

    write_scope = "push"

    @extend_schema(request=PartNumbersSerializer, responses=PartUrlsSerializer)
    def post(self, request: Request, project: str, dataset: str, upload_id: UUID) -> Response:
        """Return where to PUT each part."""
        body = PartNumbersSerializer(data=request.data)
        check(body)
        ways = {"store": presign_parts, "portal": parts_through_us}
        addresses = ways[body.validated_data["through"]]
        upload = self.upload(upload_id)
        urls = addresses(upload, body.validated_data["numbers"])
        named = {str(number): url for number, url in urls.items()}
        return Response({"urls": named, "headers": headers_of_parts(upload)})


class UploadCompleteView(UploadScopedView, APIView):
    """The end of an upload."""

    write_scope = "push"

    @extend_schema(request=CompleteUploadSerializer, responses={202: UploadSerializer})
    def post(self, request: Request, project: str, dataset: str, upload_id: UUID) -> Response:
        """Join the parts and have the result verified."""
        body = CompleteUploadSerializer(data=request.data)
        check(body)
        parts = [(part["n"], part["etag"]) for part in body.validated_data["parts"]]
        upload = complete_upload(self.upload(upload_id), parts)
        return Response(_rendered(upload), status=status.HTTP_202_ACCEPTED)
