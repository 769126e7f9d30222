"""Shapes of merges, reverts, cherry-picks and edits; each gives its arguments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import TextField
from atom.datasets.browsing.queries import combine_with_view
from atom.datasets.catalog.api.serializers import VersionShortSerializer
from atom.datasets.commits.api.commit_serializers import (
    CommitRequestSerializer,
    MergeConflictSerializer,
)
from atom.datasets.commits.api.settling_serializers import SettlingSerializer
from atom.datasets.models import CommitRequest, Dataset, resolve_ref
from atom.datasets.operations.engines.operations import (
    Arguments,
    EditArguments,
    EditStepArguments,
    MergeArguments,
    PickArguments,
    RevertArguments,
    Source,
)
from atom.datasets.versions.engines.changes import SPLITS
from atom_sdk.manifests.layers.layers import MAX_LABEL_BYTES, is_label
from atom_sdk.packs.paths import MAX_PATH_BYTES

MAX_PATHS = 1000
MAX_STEPS = 100
_DIGEST = r"^[0-9a-f]{64}$"


class OperationSerializer(serializers.Serializer[Any]):
    """The fields of every operation; without `expected_head` it works on the present head."""

    branch = SlugField(default="main")
    expected_head = serializers.RegexField(_DIGEST, allow_null=True, default=None)
    message = TextField(max_length=10_000, allow_blank=True, default="")

    def arguments(self, dataset: Dataset) -> Arguments:
        """Return what the operation is about, with versions pinned to commits."""
        raise NotImplementedError


class _ConflictingSerializer(SettlingSerializer, OperationSerializer):
    pass


def _ref(help_text: str) -> serializers.CharField:
    return TextField(max_length=64, help_text=help_text)


def _paths(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=TextField(max_length=MAX_PATH_BYTES, trim_whitespace=False),
        max_length=MAX_PATHS,
        help_text="Files and folders; with a slash at its end, what is below the folder.",
        **options,
    )


def _source(dataset: Dataset, ref: str) -> Source:
    return Source(ref, resolve_ref(dataset, ref).commit)


class MergeSerializer(_ConflictingSerializer):
    """Merges a branch or version into a branch."""

    source = _ref("The branch, tag, version or commit to take from.")  # type: ignore[assignment]

    def arguments(self, dataset: Dataset) -> MergeArguments:
        """Raises RefNotFound."""
        given = self.validated_data
        source = _source(dataset, given["source"])
        return MergeArguments(source, given["on_conflict"], given["resolutions"])


class RevertSerializer(_ConflictingSerializer):
    """Undoes a version."""

    version = _ref("The version to undo.")

    def arguments(self, dataset: Dataset) -> RevertArguments:
        """Raises RefNotFound."""
        given = self.validated_data
        version = _source(dataset, given["version"])
        return RevertArguments(version, given["on_conflict"], given["resolutions"])


class PickSerializer(_ConflictingSerializer):
    """Brings paths of another version to a branch."""

    source = _ref("The version to take from.")  # type: ignore[assignment]
    paths = _paths(default=list)
    changes_only = serializers.BooleanField(
        default=False, help_text="Repeat only what the version changed in these paths, or in all."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for paths unless the version's own changes are picked."""
        if not attrs["paths"] and not attrs["changes_only"]:
            raise serializers.ValidationError(
                {"paths": ["Give at least one path."]},
                code="required",
            )
        return attrs

    def arguments(self, dataset: Dataset) -> PickArguments:
        """Raises RefNotFound."""
        given = self.validated_data
        source = _source(dataset, given["source"])
        return PickArguments(
            source,
            tuple(given["paths"]),
            given["changes_only"],
            given["on_conflict"],
            given["resolutions"],
        )


class EditStepSerializer(serializers.Serializer[Any]):
    """One edit."""

    op = serializers.ChoiceField(
        choices=["remove", "move", "copy", "set", "label", "split", "move_objects"]
    )
    paths = _paths(default=list)
    where = TextField(
        max_length=4000,
        allow_blank=True,
        default="",
        help_text="A query; of the files at the paths, or of all, only those that match.",
    )
    view = TextField(
        max_length=63,
        allow_blank=True,
        default="",
        help_text="A saved view of this dataset: of those files, only the ones in it.",
    )
    to = TextField(
        max_length=MAX_PATH_BYTES,
        trim_whitespace=False,
        allow_blank=True,
        default="",
        help_text="For move and copy: the new path; a folder if it ends with a slash.",
    )
    attributes = serializers.DictField(
        default=dict, help_text="For set: a JSON merge patch; null removes an attribute."
    )
    source = TextField(  # type: ignore[assignment]
        max_length=130,
        allow_blank=True,
        default="",
        help_text="For copy: a version of this dataset, or dataset@version of the same project.",
    )
    value = TextField(
        max_length=MAX_LABEL_BYTES,
        allow_blank=True,
        default="",
        help_text="For label and split: which one; empty to take it away. For move_objects: 1 if "
        "the boxes count pixels from 1, 0 if not; empty to go by the imports.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that each edit has what it needs, and nothing that it ignores."""
        needed = {"move": {"to"}, "copy": {"to"}, "set": {"attributes"}}.get(attrs["op"], set())
        optional = {
            "copy": {"source"},
            "label": {"value"},
            "split": {"value"},
            "move_objects": {"value"},
        }
        allowed = needed | optional.get(attrs["op"], set())
        if not attrs["paths"] and not attrs["where"] and not attrs["view"]:
            said = ["Give paths, a query or a view."]
            raise serializers.ValidationError({"paths": said}, code="required")
        wrong = {name: ["This is needed."] for name in needed if not attrs[name]}
        for name in {"to", "attributes", "source", "value"} - allowed:
            if attrs[name]:
                wrong[name] = [f"This is not for {attrs['op']}."]
        wrong |= _wrong_value(attrs["op"], attrs["value"])
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


def _wrong_value(op: str, value: str) -> dict[str, list[str]]:
    if op == "split" and value and value not in SPLITS:
        return {"value": [f"Give one of {', '.join(SPLITS)}, or nothing."]}
    if op == "move_objects" and value not in ("", "0", "1"):
        return {"value": ["Give 0 or 1, or nothing."]}
    if op == "label" and value and not is_label(value):
        return {"value": [f"A label has 1 to {MAX_LABEL_BYTES} printable bytes."]}
    return {}


class EditSerializer(OperationSerializer):
    """Edits a branch without its bytes."""

    edits = EditStepSerializer(
        many=True,
        min_length=1,  # type: ignore[call-arg]  # arguments of the list
        max_length=MAX_STEPS,
    )

    def arguments(self, dataset: Dataset) -> EditArguments:
        """Raises RefNotFound."""
        return EditArguments(tuple(_step(dataset, given) for given in self.validated_data["edits"]))


def _step(dataset: Dataset, given: dict[str, Any]) -> EditStepArguments:
    where = combine_with_view(dataset, given["where"], given["view"])
    return EditStepArguments(
        op=given["op"],
        # A query alone is asked of everything.
        paths=tuple(given["paths"]) or ("/",),
        where=str(where) if where else "",
        to=given["to"],
        attributes=given["attributes"],
        source=_copy_source(dataset, given["source"]) if given["source"] else None,
        value=given["value"],
    )


def _copy_source(dataset: Dataset, text: str) -> Source:
    name, at, ref = text.rpartition("@")
    if not at:
        return _source(dataset, ref)
    other = Dataset.objects.in_project(dataset.project).filter(name=name).first()
    if other is None:
        said = [f"The project has no dataset {name}."]
        raise serializers.ValidationError({"source": said}, code="does_not_exist")
    return Source(text, resolve_ref(other, ref).commit, str(other.pk))


class RunningOperationSerializer(CommitRequestSerializer):
    """An operation as a dataset's page shows it; its request has the conflicts."""

    kind = serializers.SerializerMethodField()
    source = serializers.SerializerMethodField(  # type: ignore[assignment]
        help_text="The version that is merged, undone, picked or copied from; else empty."
    )
    version = VersionShortSerializer(read_only=True, allow_null=True)  # type: ignore[assignment]
    created_by = UserShortSerializer(read_only=True, allow_null=True)

    class Meta(CommitRequestSerializer.Meta):
        fields = (  # type: ignore[assignment]
            "id",
            "kind",
            "branch",
            "source",
            "message",
            "state",
            "progress",
            "stage",
            "rows_done",
            "rows_total",
            "cancellable",
            "unchanged",
            "version",
            "error",
            "conflicts_total",
            "created_by",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(
        serializers.ChoiceField(choices=["merge", "revert", "cherry_pick", "edit", "split"])
    )
    def get_kind(self, request: CommitRequest) -> str:
        """Return what was asked for: a split is stored as a push without changes."""
        return "split" if request.operation == "push" else request.operation

    @extend_schema_field(serializers.CharField())
    def get_source(self, request: CommitRequest) -> str:
        """Return the source of the operation, or of its first edit that has one."""
        asked = [request.arguments, *request.arguments.get("edits", ())]
        sources = (step.get("source") for step in asked)
        return next((source["ref"] for source in sources if source), "")


class ChangeExampleSerializer(serializers.Serializer[Any]):
    """A file that an operation would change."""

    path = serializers.CharField()
    change = serializers.ChoiceField(choices=["added", "removed", "changed"])


class PreviewConflictSerializer(MergeConflictSerializer):
    """A conflict with pictures of both sides, where they are some."""

    our_thumb_url = serializers.CharField(allow_null=True)
    their_thumb_url = serializers.CharField(allow_null=True)


class OperationPreviewSerializer(serializers.Serializer[Any]):
    """The effect of an operation; unsettled conflicts are counted as the branch's side."""

    head = VersionShortSerializer()
    added = serializers.IntegerField(source="counts.added")
    removed = serializers.IntegerField(source="counts.removed")
    changed = serializers.IntegerField(source="counts.changed")
    labels_changed = serializers.IntegerField(source="counts.labels_changed")
    examples = ChangeExampleSerializer(many=True, help_text="The first files of each kind.")
    conflicts_total = serializers.IntegerField(
        help_text="Those that the given resolutions do not settle."
    )
    conflicts = PreviewConflictSerializer(many=True, help_text="The first hundred of these.")
    settled = serializers.IntegerField(help_text="The conflicts that the resolutions settle.")
    contained = serializers.BooleanField(help_text="The branch has all of it already.")
