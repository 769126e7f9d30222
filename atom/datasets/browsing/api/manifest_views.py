"""The manifest and packs of a version: with these a client reads it without the server."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE
from atom.core import clock
from atom.core.bodies import check
from atom.datasets.browsing.api.entry_serializers import (
    ManifestKeysSerializer,
    ManifestSerializer,
    PackDigestsSerializer,
    PackUrlsSerializer,
    SourcePathsSerializer,
    SourceUrlsSerializer,
)
from atom.datasets.browsing.reads import source_addresses
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import VersionSerializer
from atom.datasets.catalog.reads import (
    URL_EXPIRES_S,
    manifest_addresses,
    manifest_keys,
    open_root,
    pack_addresses,
    packs_of,
    presigned,
    quarantined_among,
    require_readable,
)
from atom_sdk.manifests.objects import root_key
from atom_sdk.manifests.roots.roots import Root, encode_root


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
            ),
            OpenApiParameter(
                "addresses",
                str,
                enum=["all", "root"],
                description="`root`: only that of the root; ask for the others as they are needed.",
            ),
        ],
        responses=ManifestSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the root, and an address for each manifest object that it lists, or for none."""
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
            "urls": presigned(self.project, self._keys(root)),
            "quarantined_packs": quarantined,
            "expires_at": _expires_at(),
        }
        return Response(body)

    def _keys(self, root: Root) -> dict[str, None]:
        keys = {root_key(bytes.fromhex(self.version.readable_root)): None}
        if self.request.query_params.get("addresses") == "root":
            return keys
        # Clients from before there was a choice get all of them.
        return keys | dict.fromkeys(manifest_keys(root))


class _ReadByPost(DatasetScopedView, APIView):
    # POST only carries the long list.
    reading_methods = SAFE | {"POST"}


class ManifestUrlsView(_ReadByPost):
    """Addresses of manifest objects."""

    @extend_schema(request=ManifestKeysSerializer, responses=PackUrlsSerializer)
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return where to GET each object of this version's manifest."""
        body = ManifestKeysSerializer(data=request.data)
        check(body)
        urls = manifest_addresses(self.version, body.validated_data["keys"])
        return Response({"urls": urls, "expires_at": _expires_at()})


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
    return clock.now() + timedelta(seconds=URL_EXPIRES_S)
