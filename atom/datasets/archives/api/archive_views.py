"""Moving a dataset with its history: what an archive of it holds, and loading one."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, user_of
from atom.core import storage
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.datasets.archives.actions.archives import begin_load, note_export, request_load
from atom.datasets.archives.archiving import history_of
from atom.datasets.archives.errors import ArchiveObjectUnknown
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import DatasetSerializer
from atom.datasets.catalog.reads import require_readable
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer
from atom.datasets.models import Dataset, Pack
from atom_sdk.archive.folder import KEY, digest_in
from atom_sdk.sentences import Sentence

_URL_EXPIRES_S = 3600
_MOST_KEYS = 500
_HEX = r"^[0-9a-f]{64}$"


class ArchivedDatasetSerializer(serializers.Serializer[Any]):
    """The facts of a dataset in its archive."""

    name = serializers.CharField()
    description = serializers.CharField()
    project = serializers.CharField()
    retention = serializers.CharField()
    retention_limit = serializers.IntegerField(allow_null=True)


class ArchivedMoveSerializer(serializers.Serializer[Any]):
    """One move of a branch; `old` and `new` are commits, "" for none."""

    branch = serializers.CharField()
    seq = serializers.IntegerField()
    kind = serializers.CharField(help_text="begin, move or end")
    old = serializers.CharField()
    new = serializers.CharField()
    number = serializers.IntegerField(allow_null=True)
    author = serializers.CharField()
    at = serializers.CharField()
    added = serializers.IntegerField(allow_null=True)
    removed = serializers.IntegerField(allow_null=True)
    changed = serializers.IntegerField(allow_null=True)


class ArchivedTagSerializer(serializers.Serializer[Any]):
    """A name of a commit."""

    name = serializers.CharField()
    commit = serializers.CharField()
    created_at = serializers.CharField()


class DatasetHistorySerializer(serializers.Serializer[Any]):
    """The whole history of a dataset, as an archive keeps it."""

    format = serializers.CharField()
    dataset = ArchivedDatasetSerializer()
    moves = ArchivedMoveSerializer(many=True)
    tags = ArchivedTagSerializer(many=True)
    kept = serializers.ListField(child=serializers.CharField())
    layouts = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="By commit, the root of the same content from which it is read: its files lie in "
        "other packs than its own root names. Only if there are such versions.",
    )


class ArchiveKeysSerializer(serializers.Serializer[Any]):
    """Which objects a client wants to save."""

    keys = serializers.ListField(
        child=serializers.RegexField(f"^{KEY.pattern}$"), min_length=1, max_length=_MOST_KEYS
    )


class ArchiveUrlSerializer(serializers.Serializer[Any]):
    """Where an object can be read for an hour."""

    key = serializers.CharField()
    url = serializers.CharField()
    size_bytes = serializers.IntegerField(allow_null=True, help_text="Of a pack.")


class ArchiveUrlsSerializer(serializers.Serializer[Any]):
    """Where objects can be read."""

    objects = ArchiveUrlSerializer(many=True)


class BeginLoadSerializer(serializers.Serializer[Any]):
    """Which history is going to be loaded."""

    history = serializers.RegexField(_HEX, help_text="The digest of the archive's history.")


class NewLoadSerializer(BeginLoadSerializer):
    """The request of a load: all packs are sent."""

    bundle = serializers.RegexField(
        _HEX, help_text="The digest of a pack that holds the history and the manifest objects."
    )


class ArchiveHistoryView(DatasetScopedView, APIView):
    """The history of a dataset."""

    @extend_schema(responses=DatasetHistorySerializer, operation_id="dataset_history_retrieve")
    def get(self, request: Request, project: str, dataset: str) -> Response:
        """Return facts, moves of branches, tags, and the commits whose files are kept."""
        history = history_of(self.dataset)
        note_export(self.dataset, user_of(request))
        return Response(history)


class ArchiveUrlsView(DatasetScopedView, APIView):
    """Addresses of the objects of a dataset's history."""

    # POST only carries the long list.
    reading_methods = SAFE | {"POST"}

    @extend_schema(
        request=ArchiveKeysSerializer,
        responses=ArchiveUrlsSerializer,
        operation_id="dataset_archive_urls",
    )
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return where to GET each object; who can name one of the project's has read its root."""
        _ = self.dataset
        body = ArchiveKeysSerializer(data=request.data)
        check(body)
        keys: list[str] = body.validated_data["keys"]
        sizes = self._pack_sizes(keys)
        prefix, objects = storage.project_prefix(self.project), storage.objects()
        found = [
            {
                "key": key,
                "url": objects.presign_get(prefix + key, _URL_EXPIRES_S),
                "size_bytes": sizes.get(digest_in(key).hex()),
            }
            for key in keys
        ]
        return Response({"objects": found})

    def _pack_sizes(self, keys: list[str]) -> dict[str, int]:
        # The objects of an archive alone are not in the bucket.
        strange = [key for key in keys if key.startswith(("indexes/", "histories/"))]
        if strange:
            raise ArchiveObjectUnknown(
                Sentence(
                    "datasets.not_in_project",
                    "{project} has no {name}.",
                    project=self.project.slug,
                    name=strange[0],
                )
            )
        wanted = [digest_in(key).hex() for key in keys if key.startswith("packs/")]
        require_readable(self.project, wanted)
        packs: QuerySet[Pack] = Pack.objects.filter(project=self.project, digest__in=wanted)
        return dict(packs.values_list("digest", "size_bytes"))


class ArchiveLoadBeginView(DatasetScopedView, APIView):
    """The beginning of a load."""

    @extend_schema(
        request=BeginLoadSerializer,
        responses=DatasetSerializer,
        operation_id="dataset_load_begin",
    )
    def put(self, request: Request, project: str, dataset: str) -> Response:
        """Note that a client is loading a history; the dataset's page then says so."""
        body = BeginLoadSerializer(data=request.data)
        check(body)
        begin_load(self.dataset, body.validated_data["history"])
        found = Dataset.objects.in_project(self.project).with_summary().get(pk=self.dataset.pk)
        return Response(DatasetSerializer(found).data)


class ArchiveLoadListView(DatasetScopedView, APIView):
    """Asking for a load."""

    @extend_schema(
        request=NewLoadSerializer,
        responses={202: CommitRequestSerializer},
        operation_id="dataset_load_create",
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Have a worker check what was sent and make all versions at once."""
        body = NewLoadSerializer(data=request.data)
        check(body)
        load = request_load(self.dataset, user=user_of(request), **body.validated_data)
        load.refresh_from_db()
        return Response(CommitRequestSerializer(load).data, status=status.HTTP_202_ACCEPTED)
