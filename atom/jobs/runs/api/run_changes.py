"""Changes of runs' descriptions, and changes of many runs at once."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.names import NameField, TextField
from atom.jobs.runs.actions import descriptions
from atom.jobs.runs.actions.descriptions import MAX_NOTES, MAX_RUNS, MAX_TAGS, Description, Outcome
from atom_sdk.sentences import Sentence

_NEEDS_REVISION = ("name", "notes", "tags")


def tags_field(**options: Any) -> serializers.ListField:
    """Return a list of tags."""
    return serializers.ListField(child=NameField(max_length=63), max_length=MAX_TAGS, **options)


class DescriptionSerializer(serializers.Serializer[Any]):
    """Changes of a run's description; fields that are left out stay as they are."""

    name = NameField(max_length=200, required=False)
    notes = TextField(max_length=MAX_NOTES, required=False, allow_blank=True, trim_whitespace=False)
    tags = tags_field(required=False, help_text="All of its tags.")
    starred = serializers.BooleanField(required=False)
    expected_revision = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="The run's `revision` as it was read; needed to change name, notes or tags.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse to overwrite what the caller may never have seen."""
        if "expected_revision" not in attrs and any(name in attrs for name in _NEEDS_REVISION):
            said = "Give the revision of the run as you read it."
            raise serializers.ValidationError({"expected_revision": [said]}, code="required")
        return attrs


def parse_description(request: Request) -> tuple[Description, int | None]:
    """Return the changes in the body and the revision that they expect. Raises Invalid."""
    body = DescriptionSerializer(data=request.data)
    check(body)
    said = dict(body.validated_data)
    expected = said.pop("expected_revision", None)
    return Description(**said), expected


class RunIdsSerializer(serializers.Serializer[Any]):
    """Runs of one project."""

    runs = serializers.ListField(
        child=serializers.UUIDField(), allow_empty=False, max_length=MAX_RUNS
    )


class RunTagsSerializer(RunIdsSerializer):
    """Tags to add to runs, and tags to take away."""

    add = tags_field(required=False, default=list)
    remove = tags_field(required=False, default=list)


class RefusedRunSerializer(serializers.Serializer[Any]):
    """A run that stayed as it was."""

    run = serializers.UUIDField()
    number = serializers.IntegerField()
    code = serializers.ChoiceField(choices=["still_active", "not_cancellable"])


class RunsChangedSerializer(serializers.Serializer[Any]):
    """The result for each run; runs in neither list needed no change."""

    changed = serializers.ListField(child=serializers.UUIDField())
    refused = RefusedRunSerializer(many=True)


def _answer(outcome: Outcome) -> Response:
    refused = [{"run": run.pk, "number": run.number, "code": code} for run, code in outcome.refused]
    body = {"changed": outcome.changed, "refused": refused}
    return Response(RunsChangedSerializer(body).data)


def _runs_of(request: Request) -> list[Any]:
    body = RunIdsSerializer(data=request.data)
    check(body)
    found: list[Any] = body.validated_data["runs"]
    return found


class RunTagsView(ProjectScopedView, APIView):
    """`projects/<project>/runs/tags/`."""

    @extend_schema(
        operation_id="runs_tag", request=RunTagsSerializer, responses=RunsChangedSerializer
    )
    def post(self, request: Request, project: str) -> Response:
        """Add tags to runs and take others away."""
        body = RunTagsSerializer(data=request.data)
        check(body)
        given = body.validated_data
        if not given["add"] and not given["remove"]:
            raise Invalid(
                errors={"add": [Sentence("jobs.tag_missing", "Name a tag to add or to remove.")]}
            )
        done = descriptions.tag_runs(
            self.project, user_of(request), given["runs"], given["add"], given["remove"]
        )
        return _answer(done)


class RunsCancelView(ProjectScopedView, APIView):
    """`projects/<project>/runs/cancel/`."""

    @extend_schema(
        operation_id="runs_cancel_many", request=RunIdsSerializer, responses=RunsChangedSerializer
    )
    def post(self, request: Request, project: str) -> Response:
        """Ask runs to stop."""
        asked = _runs_of(request)
        return _answer(descriptions.cancel_runs(self.project, user_of(request), asked))


class RunsArchiveView(ProjectScopedView, APIView):
    """`projects/<project>/runs/archive/`."""

    @extend_schema(
        operation_id="runs_archive", request=RunIdsSerializer, responses=RunsChangedSerializer
    )
    def post(self, request: Request, project: str) -> Response:
        """Take runs that are over out of the list; `runs/restore/` brings them back."""
        asked = _runs_of(request)
        return _answer(descriptions.archive_runs(self.project, user_of(request), asked))


class RunsRestoreView(ProjectScopedView, APIView):
    """`projects/<project>/runs/restore/`."""

    @extend_schema(
        operation_id="runs_restore", request=RunIdsSerializer, responses=RunsChangedSerializer
    )
    def post(self, request: Request, project: str) -> Response:
        """Bring archived runs back into the list."""
        asked = _runs_of(request)
        return _answer(descriptions.restore_runs(self.project, user_of(request), asked))
