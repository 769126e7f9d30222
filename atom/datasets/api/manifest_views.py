"""What a client needs to read a version without the server: its manifest and its packs."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE
from atom.core import storage
from atom.core.bodies import check
from atom.datasets.api.entry_serializers import (
    ManifestSerializer,
    PackDigestsSerializer,
    PackUrlsSerializer,
    SourcePathsSerializer,
    SourceUrlsSerializer,
)
from atom.datasets.api.scope import DatasetScopedView
from atom.datasets.api.serializers import VersionSerializer
from atom.datasets.reads import (
    URL_EXPIRES_S,
    open_root,
    pack_addresses,
    packs_of,
    quarantined_among,
    require_readable,
    source_addresses,
)
from atom_sdk.manifests.objects import delta_key, group_key, layer_key, range_key, root_key
from atom_sdk.manifests.roots import Root, encode_root


class ManifestView(DatasetScopedView, APIView):
    """The manifest of a version."""

    @extend_schema(
        operation_id="version_manifest",
        parameters=[
            OpenApiParameter(
                "with_quarantined",
                bool,
                description="Answer although packs are quarantined, and name them: for a push, "
                "which sends their files again.",
            )
        ],
        responses=ManifestSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the root, and an address for each manifest object that it lists."""
        packs = packs_of(self.version)
        quarantined = quarantined_among(self.project, packs)
        if request.query_params.get("with_quarantined") != "true":
            require_readable(self.project, packs)
        root = open_root(self.version)
        body: dict[str, Any] = {
            "version": VersionSerializer(self.version).data,
            "commit": self.version.commit,
            "root_digest": self.version.readable_root,
            "root": json.loads(encode_root(root)),
            "urls": self._urls(root),
            "quarantined_packs": quarantined,
            "expires_at": _expires_at(),
        }
        return Response(body)

    def _urls(self, root: Root) -> dict[str, str]:
        keys = [root_key(bytes.fromhex(self.version.readable_root))]
        keys += [group_key(group.object) for group in root.groups]
        keys += [range_key(part.object) for part in root.ranges]
        keys += [delta_key(delta) for delta in root.deltas]
        keys += [layer_key(name) for layer in root.layers for name in layer.layout]
        prefix, objects = storage.project_prefix(self.project), storage.objects()
        return {key: objects.presign_get(prefix + key, URL_EXPIRES_S) for key in keys}


class _ReadByPost(DatasetScopedView, APIView):
    # POST only carries the long list.
    reading_methods = SAFE | {"POST"}


class PackUrlsView(_ReadByPost):
    """Addresses of packs."""

    @extend_schema(request=PackDigestsSerializer, responses=PackUrlsSerializer)
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return where to GET each pack of this version."""
        body = PackDigestsSerializer(data=request.data)
        check(body)
        wanted: list[str] = body.validated_data["packs"]
        urls = pack_addresses(self.version, wanted, set(packs_of(self.version)))
        return Response({"urls": urls, "expires_at": _expires_at()})


class SourceUrlsView(_ReadByPost):
    """Addresses of files that stay at their source."""

    @extend_schema(request=SourcePathsSerializer, responses=SourceUrlsSerializer)
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return where to GET each file, in the state that the version pinned, for a day."""
        body = SourcePathsSerializer(data=request.data)
        check(body)
        return Response({"urls": source_addresses(self.version, body.validated_data["paths"])})


def _expires_at() -> datetime:
    return timezone.now() + timedelta(seconds=URL_EXPIRES_S)
