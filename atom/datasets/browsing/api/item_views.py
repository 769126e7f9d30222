"""One file of a version: what became of its path, and what a picture says of itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.core import storage
from atom.core.errors import Invalid
from atom.core.pagination import decode_cursor, encode_cursor
from atom.core.parquet.preview import REASONS, ParquetPreview, preview_parquet
from atom.core.query import refuse_unknown
from atom.core.sentences import required
from atom.core.tables import PreviewTableSerializer
from atom.datasets.browsing.api.entry_serializers import EntrySerializer
from atom.datasets.browsing.api.rendering import EntryRenderer
from atom.datasets.browsing.engines.browse import Row
from atom.datasets.browsing.engines.drawn_objects import listed
from atom.datasets.browsing.path_history import PathState, history_of_path
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import VersionSerializer
from atom.datasets.catalog.reads import require_readable
from atom.datasets.errors import EntryNotFound
from atom.datasets.keys import pack_key
from atom.datasets.packs.engines.images import is_raster_image, unreadable_reason
from atom.datasets.packs.engines.pictures import HEAD_BYTES, picture_facts
from atom.datasets.packs.engines.whole_pictures import ends_as_it_should
from atom.datasets.sentences import file_unknown

_KINDS = ["added", "removed", "changed", "label", "split", "attributes", "objects"]
# Beside what a Parquet file itself may be the reason for.
NOT_SHOWN, AT_SOURCE = "unknown", "at_source"
# A larger file without a mark is not read whole to show its page.
_MOST_CHECKED_BYTES = 16 << 20
_TABLE_ENDINGS = (".parquet", ".pq")
_PATH = OpenApiParameter("path", str, required=True)


class PathChangeSerializer(serializers.Serializer[Any]):
    """The change that a version made to a path."""

    version = VersionSerializer()
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=_KINDS))
    before = EntrySerializer(allow_null=True)
    after = EntrySerializer(allow_null=True)


class PathHistorySerializer(serializers.Serializer[Any]):
    """Changes of a path, the newest first."""

    results = PathChangeSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    ends_at = serializers.CharField(
        allow_null=True, help_text="The version from which on retention let go of what was before."
    )


class PictureSerializer(serializers.Serializer[Any]):
    """Facts of a picture that its first bytes hold."""

    width = serializers.IntegerField(help_text="In pixels, as stored.")
    height = serializers.IntegerField()
    format = serializers.CharField()
    mode = serializers.CharField()
    exif = serializers.DictField(child=serializers.CharField())


class PictureAnswerSerializer(serializers.Serializer[Any]):
    """A picture, or null for what is none."""

    picture = PictureSerializer(allow_null=True)
    damage = serializers.CharField(
        allow_null=True, help_text="Why the picture cannot be read whole; null if it can."
    )


class EntryPreviewSerializer(serializers.Serializer[Any]):
    """The content of a file, if a page can show its kind."""

    table = PreviewTableSerializer(allow_null=True)
    reason = serializers.ChoiceField(
        choices=[*REASONS, NOT_SHOWN, AT_SOURCE],
        help_text="Why there is nothing to see, or only the columns.",
    )
    truncated = serializers.BooleanField(help_text="The file holds more than is shown.")


class PathHistoryView(DatasetScopedView, APIView):
    """The history of one path."""

    @extend_schema(
        operation_id="version_path_history",
        parameters=[_PATH, OpenApiParameter("cursor", str, description="`next` of the last page.")],
        responses=PathHistorySerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return when the path was added, changed, relabelled and removed, and by whom.

        First parents are followed: what a merge brought, the merge did.
        """
        refuse_unknown(request, ("path", "cursor"))
        given = request.query_params.get("cursor")
        start = decode_cursor(given, 1)[0] if given else ""
        found = history_of_path(self.dataset, self.version, _path_of(request), start)
        renderer = EntryRenderer(self.project)

        def shown(state: PathState | None) -> dict[str, Any] | None:
            if state is None:
                return None
            return renderer.render(state.entry, listed(state.drawn))

        results = [
            {
                "version": VersionSerializer(change.version).data,
                "kinds": change.kinds,
                "before": shown(change.before),
                "after": shown(change.after),
            }
            for change in found.changes
        ]
        following = None if found.next is None else encode_cursor([found.next])
        return Response({"results": results, "next": following, "ends_at": found.ends_at})


class PictureView(DatasetScopedView, APIView):
    """Dimensions and EXIF of one file."""

    @extend_schema(
        operation_id="version_picture", parameters=[_PATH], responses=PictureAnswerSerializer
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return what the first bytes of a picture say; null for other files."""
        refuse_unknown(request, ("path",))
        path = _path_of(request)
        row = open_version(self.version).find(path)
        if row is None:
            raise EntryNotFound(file_unknown(self.dataset.name, ref, path))
        # At a source: its page shows the picture, whose dimensions the browser knows.
        if row["pack"] is None or not is_raster_image(row["media_type"] or ""):
            return Response({"picture": None, "damage": None})
        head = self._bytes(row, 0, min(row["size"], HEAD_BYTES))
        facts = picture_facts(head)
        damage = self._damage(row, head)
        return Response({"picture": None if facts is None else vars(facts), "damage": damage})

    def _damage(self, row: Row, head: bytes) -> str | None:
        """Return the mark that verification left; older files have none and are looked at here."""
        mark = (row["attributes"] or {}).get("unreadable")
        if mark is not None:
            return str(mark)
        size = row["size"]
        if size <= len(head):
            return unreadable_reason(head)
        if size > _MOST_CHECKED_BYTES or ends_as_it_should(self._bytes(row, size - 64, size)):
            return None
        return unreadable_reason(self._bytes(row, 0, size))

    def _bytes(self, row: Row, start: int, end: int) -> bytes:
        if start == end:
            return b""
        key = storage.project_prefix(self.project) + pack_key(row["pack"].hex())
        return storage.objects().get_range(key, row["offset"] + start, row["offset"] + end)


class EntryPreviewView(DatasetScopedView, APIView):
    """The columns and the first rows of a Parquet file."""

    @extend_schema(
        operation_id="version_entry_preview", parameters=[_PATH], responses=EntryPreviewSerializer
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return a bounded part of a table; a reason for what is none, or cannot be read."""
        refuse_unknown(request, ("path",))
        path = _path_of(request)
        row = open_version(self.version).find(path)
        if row is None:
            raise EntryNotFound(file_unknown(self.dataset.name, ref, path))
        if not path.lower().endswith(_TABLE_ENDINGS):
            return self._answer(ParquetPreview(), NOT_SHOWN)
        if row["pack"] is None:
            return self._answer(ParquetPreview(), AT_SOURCE)
        pack = row["pack"].hex()
        require_readable(self.project, [pack])
        key = storage.project_prefix(self.project) + pack_key(pack)

        def read(start: int, end: int) -> bytes:
            return storage.objects().get_range(key, row["offset"] + start, row["offset"] + end)

        found = preview_parquet(read, row["size"])
        return self._answer(found, found.reason or ("" if found.columns else NOT_SHOWN))

    def _answer(self, found: ParquetPreview, reason: str) -> Response:
        table = found if found.columns else None
        shown = {"table": table, "reason": reason, "truncated": found.truncated}
        return Response(EntryPreviewSerializer(shown).data)


def _path_of(request: Request) -> str:
    path: str = request.query_params.get("path", "")
    if not path:
        raise Invalid(errors={"path": [required()]})
    return path
