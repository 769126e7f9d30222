"""Imports of annotations: look, read the report, confirm."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.names import TextField
from atom.jobs.api_base import RunScopedView
from atom.jobs.imports.actions import imports
from atom.jobs.runs.api.run_serializers import RunSerializer
from atom.jobs.runs.api.views import render_run

FORMATS: Final = (
    "auto", "coco", "yolo", "voc", "imagefolder", "huggingface", "csv", "parquet", "zip", "tar",
    "folder",
)  # fmt: skip
YOLO_TASKS: Final = ("auto", "detect", "segment", "pose", "obb")
_MAX_PATH = 4096


class NewImportSerializer(serializers.Serializer[Any]):
    """Files of a version to import, and how; the choices are those of `atom data import`."""

    # Names that serializers have for something else.
    source = TextField(  # type: ignore[assignment]
        max_length=300, help_text="The version that has the files: pets@v1."
    )
    output = TextField(
        max_length=300, help_text="The dataset that gets the next version, or dataset@branch."
    )
    path = TextField(
        max_length=_MAX_PATH,
        required=False,
        allow_blank=True,
        help_text="An archive or a folder of the version; empty for all of its files.",
    )
    images = TextField(
        max_length=_MAX_PATH,
        required=False,
        allow_blank=True,
        help_text="The archive or folder with the pictures, if they are apart.",
    )
    into = TextField(
        max_length=_MAX_PATH,
        required=False,
        allow_blank=True,
        help_text="The folder of the output that the files go to.",
    )
    format = serializers.ChoiceField(choices=FORMATS, required=False)
    keep_others = serializers.BooleanField(
        required=False, help_text="Files of the output that are not imported stay; the default."
    )
    allowed_loss = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        help_text="The share of objects and labels that may be lost; 0.01 by default.",
    )
    strict = serializers.BooleanField(
        required=False, help_text="Import nothing if anything would be left out."
    )
    yolo_task = serializers.ChoiceField(choices=YOLO_TASKS, required=False)
    boxes = serializers.ChoiceField(choices=("size", "corners"), required=False)
    zip_encoding = TextField(max_length=40, required=False, allow_blank=True)
    encoding = TextField(max_length=40, required=False, allow_blank=True)
    delimiter = TextField(
        max_length=3, required=False, allow_blank=True, help_text="One character, or tab."
    )
    message = TextField(max_length=2000, required=False, allow_blank=True)


class ImportConfirmSerializer(serializers.Serializer[Any]):
    """The loss that a person accepts after a look."""

    accepted_loss = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        allow_null=True,
        help_text="A share of objects and labels, of all and of each class of 20 or more. Without "
        "it, what the look allowed.",
    )


class ImportLossSerializer(serializers.Serializer[Any]):
    """Objects or labels of one class, or of the whole source: there, and lost."""

    kind = serializers.ChoiceField(choices=("object", "label"))
    label = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_blank=True, help_text="Left out for the whole source."
    )
    source = serializers.IntegerField()  # type: ignore[assignment]
    lost = serializers.IntegerField()
    share = serializers.FloatField(help_text="0 to 1.")


class NamedCountSerializer(serializers.Serializer[Any]):
    """How many there are, and the first of them."""

    count = serializers.IntegerField()
    first = serializers.ListField(child=serializers.CharField())


class LostPicturesSerializer(serializers.Serializer[Any]):
    """Pictures that are left out, and the objects and labels that go with them."""

    pictures = serializers.IntegerField()
    objects = serializers.IntegerField()
    labels = serializers.IntegerField()


class ImportLossesSerializer(serializers.Serializer[Any]):
    """Losses by their effect, and as shares of what the source has."""

    allowed = serializers.FloatField()
    needed = serializers.FloatField(help_text="The share to accept; 0 where nothing is above.")
    effects = serializers.ListField(child=serializers.CharField())
    coverage = serializers.ListField(child=serializers.CharField())
    objects = serializers.IntegerField(help_text="Lost, while their pictures stay.")
    orphans = serializers.IntegerField(help_text="Lost objects that have no picture.")
    labels = serializers.IntegerField(help_text="Lost, while their files stay.")
    pictures = LostPicturesSerializer()
    whole = ImportLossSerializer(many=True)
    classes = ImportLossSerializer(many=True, help_text="Those that lose something.")
    above = ImportLossSerializer(many=True, help_text="More than is allowed.")
    shapes = serializers.DictField(
        child=serializers.IntegerField(), help_text="Parts of objects left out, by kind."
    )
    emptied = NamedCountSerializer(help_text="Pictures that lose all of their objects.")


class ImportProblemSerializer(serializers.Serializer[Any]):
    """Something that is left out or not understood, and why."""

    subject = serializers.CharField()
    reason = serializers.CharField()


class ImportedFileSerializer(serializers.Serializer[Any]):
    """One of the first files."""

    path = serializers.CharField()
    size_bytes = serializers.IntegerField()
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    split = serializers.CharField(allow_null=True)


class ImportCountsSerializer(serializers.Serializer[Any]):
    """The report of the importers, as `atom data import --dry-run --json` has it."""

    # Names of a serializer's own, taken by the report.
    source = serializers.CharField()  # type: ignore[assignment]
    format = serializers.CharField()
    why = serializers.CharField()
    files = serializers.IntegerField()
    size_bytes = serializers.IntegerField()
    objects = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.IntegerField())
    splits = serializers.DictField(child=serializers.IntegerField())
    losses = ImportLossesSerializer()
    skipped_total = serializers.IntegerField()
    skipped = serializers.DictField(child=serializers.IntegerField())
    litter = serializers.IntegerField(help_text="Files that operating systems left there.")
    problems = ImportProblemSerializer(many=True)
    near_misses = ImportProblemSerializer(many=True)
    near_miss_counts = serializers.DictField(child=serializers.IntegerField())
    unlisted = NamedCountSerializer(help_text="Files in no list of a split.")
    missing = NamedCountSerializer(help_text="Entries of lists that name no file.")
    unlabelled = NamedCountSerializer(help_text="Pictures without annotations.")
    notes = serializers.ListField(child=serializers.CharField())
    first = ImportedFileSerializer(many=True)


class ImportRefusalSerializer(serializers.Serializer[Any]):
    """Why an import with these choices would make nothing."""

    code = serializers.CharField()
    detail = serializers.CharField()


class ImportedVersionSerializer(serializers.Serializer[Any]):
    """The version that the import made."""

    dataset = serializers.CharField()
    ref = serializers.CharField()
    unchanged = serializers.BooleanField(help_text="The branch had all of it already.")


class ImportReportSerializer(serializers.Serializer[Any]):
    """The report of a look, or of an import."""

    step = serializers.ChoiceField(choices=("look", "import"))
    source = serializers.CharField()  # type: ignore[assignment]
    output = serializers.CharField()
    version = ImportedVersionSerializer(allow_null=True)
    refusal = ImportRefusalSerializer(allow_null=True)
    report = ImportCountsSerializer()


class ImportsView(ProjectScopedView, APIView):
    """`projects/<project>/imports/`."""

    @extend_schema(
        operation_id="imports_create",
        request=NewImportSerializer,
        responses={201: RunSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Start a run that looks at files of a version; it imports nothing."""
        body = NewImportSerializer(data=request.data)
        check(body)
        given = dict(body.validated_data)
        places = {name: given.pop(name) for name in ("source", "output")}
        paths = {name: given.pop(name, "") for name in ("path", "images")}
        if "format" in given:
            given["file_format"] = given.pop("format")
        asked = imports.ImportRequest(**places, **paths, choices=given)
        run = imports.start_look(self.project, user_of(request), asked)
        return render_run(run.pk, status=201)


class ImportReportView(RunScopedView):
    """`runs/<id>/import-report/`."""

    @extend_schema(operation_id="runs_import_report", responses=ImportReportSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return what the run found: counts, losses by effect and class, near misses."""
        report = imports.report_of(self.run)
        return Response(ImportReportSerializer(report.document).data)


class ImportConfirmView(RunScopedView):
    """`runs/<id>/import/`."""

    @extend_schema(
        operation_id="runs_import",
        request=ImportConfirmSerializer,
        responses={201: RunSerializer},
    )
    @idempotent
    def post(self, request: Request, run_id: UUID) -> Response:
        """Start the import that the run looked at; it loses no more than is accepted."""
        body = ImportConfirmSerializer(data=request.data)
        check(body)
        accepted = body.validated_data.get("accepted_loss")
        run = imports.confirm(self.run, user_of(request), accepted)
        return render_run(run.pk, status=201)
