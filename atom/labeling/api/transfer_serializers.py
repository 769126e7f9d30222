"""Shapes of imports and exports of labels."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.labeling import states
from atom.labeling.actions.transfers import EXISTING
from atom.labeling.api.serializers import OutputVersionSerializer
from atom.labeling.models import LabelTransfer
from atom.labeling.models.transfers import DIRECTIONS
from atom_sdk.label_formats.formats import AUTO, NAMES

YOLO_TASKS: Final = ("detect", "segment", "pose", "obb")
SOURCE_FORMATS: Final = (AUTO, *NAMES)
_REF_CHARACTERS: Final = 200


class NewLabelImportSerializer(serializers.Serializer[Any]):
    """An import of uploaded labels."""

    dataset = TextField(max_length=_REF_CHARACTERS)
    branch = TextField(max_length=63, default="main")
    upload = serializers.UUIDField(help_text="An upload of the kind `labels`.")
    filename = TextField(
        max_length=255, help_text="The name of the file; its suffix tells an archive from a file."
    )
    format = serializers.ChoiceField(choices=SOURCE_FORMATS, default=AUTO)
    existing = serializers.ChoiceField(
        choices=EXISTING,
        default=EXISTING[0],
        help_text="For pictures that have objects: replace them, add to them, or refuse all.",
    )
    yolo_task = serializers.ChoiceField(choices=YOLO_TASKS, default="", allow_blank=True)
    voc_origin = serializers.ChoiceField(choices=[0, 1], allow_null=True, default=None)
    confirmed = serializers.BooleanField(
        default=False, help_text="Publish without waiting for a confirmation."
    )


class NewLabelExportSerializer(serializers.Serializer[Any]):
    """An export of the labels of a version, or of a label task's accepted ones."""

    dataset = TextField(
        max_length=_REF_CHARACTERS, default="", allow_blank=True, help_text="`name@ref`"
    )
    task = serializers.UUIDField(
        allow_null=True, default=None, help_text="A label task in place of a dataset."
    )
    format = serializers.ChoiceField(choices=NAMES)
    where = TextField(max_length=10_000, default="", allow_blank=True)
    view = TextField(max_length=_REF_CHARACTERS, default="", allow_blank=True)
    yolo_task = serializers.ChoiceField(choices=YOLO_TASKS, default="", allow_blank=True)
    confirmed = serializers.BooleanField(
        default=False, help_text="Write the archive without waiting for a confirmation."
    )


class LabelTransferSerializer(serializers.ModelSerializer[LabelTransfer]):
    """An import or export of labels; `report` is its inspection and `outcome` its result."""

    direction = serializers.ChoiceField(choices=DIRECTIONS)
    state = serializers.ChoiceField(choices=sorted(states.TRANSFER_STATES))
    project = serializers.CharField(source="project.slug")
    dataset = serializers.CharField(source="dataset.name")
    version = serializers.SerializerMethodField()
    output_version = serializers.SerializerMethodField()
    label_task = serializers.SerializerMethodField(help_text="The name of the label task.")
    options = serializers.DictField()
    report = serializers.DictField()
    outcome = serializers.DictField()
    error = serializers.SerializerMethodField()
    created_by = UserShortSerializer(allow_null=True)

    class Meta:
        model = LabelTransfer
        fields: tuple[str, ...] = (
            "id", "project", "dataset", "direction", "branch", "version", "label_task", "format",
            "options", "filename", "state", "progress", "report", "outcome", "error",
            "output_version", "result_bytes", "expires_at", "created_by", "created_at",
            "confirmed_at", "updated_at",
        )  # fmt: skip

    @extend_schema_field(OutputVersionSerializer(allow_null=True))
    def get_version(self, transfer: LabelTransfer) -> dict[str, str] | None:
        """Return the version that is exported, or that an import was compared with."""
        return _version(transfer, "version")

    @extend_schema_field(OutputVersionSerializer(allow_null=True))
    def get_output_version(self, transfer: LabelTransfer) -> dict[str, str] | None:
        """Return the version that an import made."""
        return _version(transfer, "output_version")

    @extend_schema_field(serializers.CharField())
    def get_label_task(self, transfer: LabelTransfer) -> str:
        """Return the name of the task, empty without one."""
        return transfer.label_task.name if transfer.label_task else ""

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, transfer: LabelTransfer) -> dict[str, Any] | None:
        """Return why it failed."""
        return stored_failure(transfer.error_code, transfer.error_detail)


def _version(transfer: LabelTransfer, field: str) -> dict[str, str] | None:
    version = getattr(transfer, field)
    if version is None:
        return None
    return {"id": str(version.pk), "dataset": transfer.dataset.name, "ref": version.ref}


class ListedLabelTransferSerializer(LabelTransferSerializer):
    """A row of the list, without its reports, which may be long."""

    class Meta(LabelTransferSerializer.Meta):
        fields: tuple[str, ...] = tuple(
            name
            for name in LabelTransferSerializer.Meta.fields
            if name not in {"report", "outcome", "options"}
        )

    report = None  # type: ignore[assignment]
    outcome = None  # type: ignore[assignment]
    options = None  # type: ignore[assignment]


class LabelDownloadSerializer(serializers.Serializer[Any]):
    """Where an archive can be read, and until when."""

    url = serializers.CharField()
    filename = serializers.CharField()
    size_bytes = serializers.IntegerField()
    expires_at = serializers.DateTimeField()
