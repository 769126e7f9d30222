"""Shapes of uploads, and of what went wrong with work in the background."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.errors import UPLOAD_REFUSED_ACTION
from atom.datasets.models import CommitRequest, Upload
from atom.datasets.states import UPLOAD_KINDS

_DIGEST = r"^[0-9a-f]{64}$"


MAX_PARTS_PER_CALL = 1000


class PartSerializer(serializers.Serializer[Any]):
    """A part that has arrived."""

    n = serializers.IntegerField(source="number")
    etag = serializers.CharField()
    size_bytes = serializers.IntegerField()


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """A resumable upload."""

    parts_done = PartSerializer(many=True, read_only=True)
    error = serializers.SerializerMethodField()

    class Meta:
        model = Upload
        fields = (
            "id",
            "kind",
            "digest",
            "size_bytes",
            "part_size_bytes",
            "state",
            "parts_done",
            "error",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, upload: Upload) -> dict[str, Any] | None:
        """Return why the upload was quarantined."""
        return error_of(upload)


class NewUploadSerializer(serializers.Serializer[Any]):
    """The fields that begin or resume an upload."""

    kind = serializers.ChoiceField(choices=UPLOAD_KINDS)
    digest = serializers.RegexField(_DIGEST, help_text="BLAKE3 of the whole object, in hex.")
    size_bytes = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    single = serializers.BooleanField(
        default=False,
        help_text="Whether the client sends an upload of one part with the `headers` that are "
        "told with its address, and takes 412 for an answer: it is there already.",
    )


class PartNumbersSerializer(serializers.Serializer[Any]):
    """Parts that a client is about to send."""

    numbers = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1),
        min_length=1,
        max_length=MAX_PARTS_PER_CALL,
    )
    through = serializers.ChoiceField(
        choices=["store", "portal"],
        default="store",
        help_text="`store`: addresses of the object store. `portal`: paths of this server, for "
        "browsers, which see one origin.",
    )


class PartUrlsSerializer(serializers.Serializer[Any]):
    """Where to PUT each part."""

    urls = serializers.DictField(child=serializers.CharField())
    headers = serializers.DictField(
        child=serializers.CharField(),
        help_text="Headers that each PUT must have; none unless `single` was said.",
    )


class SentPartSerializer(serializers.Serializer[Any]):
    """A part that a client has sent."""

    n = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    etag = TextField(max_length=200)


class CompleteUploadSerializer(serializers.Serializer[Any]):
    """All parts of an upload."""

    parts = SentPartSerializer(many=True)


def error_of(row: Upload | CommitRequest) -> dict[str, Any] | None:
    """Return what a `FailureSerializer` shows of a row, None if nothing went wrong."""
    return stored_failure(row.error_code, row.error_detail, UPLOAD_REFUSED_ACTION)
