"""Shapes of models, versions, aliases and evaluations."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import TextField
from atom.models_registry.engines.evaluability import NotEvaluable, why_not_evaluable
from atom.models_registry.engines.evaluations import finite_metrics
from atom.models_registry.models import AliasChange, Evaluation, Model, ModelVersion


class ConfusionSerializer(serializers.Serializer[Any]):
    """`matrix[truth][predicted]` counts, in the order of `labels`."""

    labels = serializers.ListField(child=serializers.CharField())
    matrix = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))

    def to_representation(self, instance: Any) -> Any:
        """Return it as it was checked before it was stored: it may have a million cells."""
        return instance


class EvaluationShortSerializer(serializers.ModelSerializer[Evaluation]):
    """The metrics of a version on a split, without the confusion matrix, which can be large."""

    run = serializers.UUIDField(source="run_id")
    run_number = serializers.IntegerField(source="run.number")
    dataset = serializers.CharField(source="dataset_version.dataset.name")
    ref = serializers.CharField(source="dataset_version.ref")
    metrics = serializers.DictField(child=serializers.FloatField())

    class Meta:
        model = Evaluation
        fields: tuple[str, ...] = (
            "id", "run", "run_number", "dataset", "ref", "split", "n", "accuracy", "metrics",
            "created_at",
        )  # fmt: skip


class EvaluationSerializer(EvaluationShortSerializer):
    """How a version did on a split, with its confusion matrix."""

    confusion = ConfusionSerializer()

    class Meta(EvaluationShortSerializer.Meta):
        fields = (*EvaluationShortSerializer.Meta.fields, "confusion")


class RunOfVersionSerializer(serializers.Serializer[Any]):
    """The run that made a version."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()


class TrainedOnSerializer(serializers.Serializer[Any]):
    """The dataset version that the run of a model read."""

    dataset = serializers.CharField()
    ref = serializers.CharField()
    current = serializers.CharField(
        help_text="The head of `main` for a version of `main`; other versions stay as they are."
    )


class ModelVersionSerializer(serializers.ModelSerializer[ModelVersion]):
    """One immutable version."""

    model = serializers.CharField(source="model.name")
    run = RunOfVersionSerializer()
    created_by = UserShortSerializer(allow_null=True)
    metrics = serializers.SerializerMethodField()
    signature = serializers.DictField()
    aliases: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    evaluations = EvaluationShortSerializer(many=True)
    not_evaluable = serializers.SerializerMethodField()
    trained_on = serializers.SerializerMethodField()

    class Meta:
        model = ModelVersion
        fields = (
            "id", "model", "number", "run", "artifact_path", "size_bytes", "sha256", "digest",
            "framework", "metrics", "signature", "description", "created_by", "created_at",
            "aliases", "evaluations", "not_evaluable", "trained_on",
        )  # fmt: skip

    @extend_schema_field(TrainedOnSerializer(allow_null=True))
    def get_trained_on(self, version: ModelVersion) -> dict[str, str] | None:
        """Return the data of its run: the input `dataset`, or the only one; None of others."""
        inputs = {one.alias: one.version for one in version.run.inputs.all()}
        only = next(iter(inputs.values())) if len(inputs) == 1 else None
        read = inputs.get("dataset", only)
        if read is None:
            return None
        mains = getattr(read.dataset, "main_branches", [])
        is_on_main = read.number is not None
        head = mains[0].head if mains and is_on_main else None
        current = head.ref if head is not None else read.ref
        return {"dataset": read.dataset.name, "ref": read.ref, "current": current}

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_metrics(self, version: ModelVersion) -> dict[str, float]:
        """Return the metrics in the files of a version, or else the metrics of its run.

        Values of older versions that are no numbers are left out, so that they hide no list.
        """
        return finite_metrics(version.metrics) or finite_metrics(version.run.metrics_summary)

    @extend_schema_field(
        serializers.ChoiceField(choices=[str(one) for one in NotEvaluable], allow_null=True)
    )
    def get_not_evaluable(self, version: ModelVersion) -> NotEvaluable | None:
        """Return what an evaluation would miss in it; None if it can be evaluated."""
        return why_not_evaluable(file.path for file in version.files.all())


class NewVersionSerializer(serializers.Serializer[Any]):
    """A new version: a run of the project and a path of its files."""

    run = serializers.UUIDField()
    artifact_path = TextField(default="model/", max_length=1000)
    description = TextField(default="", allow_blank=True, max_length=10_000)


class AliasSerializer(serializers.Serializer[Any]):
    """A name and the number that it points at."""

    name = serializers.CharField()
    version = serializers.IntegerField(source="version.number")


class AliasTargetSerializer(serializers.Serializer[Any]):
    """Where an alias shall point."""

    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class AliasChangeSerializer(serializers.ModelSerializer[AliasChange]):
    """One step of an alias."""

    alias = serializers.CharField(source="name")
    old_version = serializers.IntegerField(source="old.number", allow_null=True, default=None)
    new_version = serializers.IntegerField(source="new.number", allow_null=True, default=None)
    actor = UserShortSerializer(allow_null=True)
    at = serializers.DateTimeField(source="created_at")

    class Meta:
        model = AliasChange
        fields = ("id", "alias", "old_version", "new_version", "actor", "at")


class ModelSerializer(serializers.ModelSerializer[Model]):
    """A model. The context carries `latest`, looked up once per page."""

    latest = serializers.SerializerMethodField()
    versions_count = serializers.IntegerField(read_only=True)
    aliases = AliasSerializer(many=True, read_only=True)

    class Meta:
        model = Model
        fields = (
            "id", "name", "description", "latest", "versions_count", "aliases", "created_at",
            "updated_at",
        )  # fmt: skip

    @extend_schema_field(ModelVersionSerializer(allow_null=True))
    def get_latest(self, model: Model) -> dict[str, Any] | None:
        """Return the newest version."""
        version = self.context["latest"].get(model.pk)
        return None if version is None else dict(ModelVersionSerializer(version).data)


class NewModelSerializer(serializers.Serializer[Any]):
    """A new model."""

    name = SlugField()
    description = TextField(default="", allow_blank=True, max_length=10_000)


class LineageNodeSerializer(serializers.Serializer[Any]):
    """One thing; `url` is its page in the portal."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(
        choices=[
            "label_task", "dataset_version", "run", "code", "runtime", "artifact",
            "model_version", "evaluation",
        ]
    )  # fmt: skip
    title = serializers.CharField()
    subtitle = serializers.CharField()
    url = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    facts = serializers.DictField()


LineageEdgeSerializer = type(
    "LineageEdgeSerializer",
    (serializers.Serializer,),
    {
        "__doc__": "An edge leads from the older thing to the newer one.",
        # `from` is a keyword of Python, so the class cannot be written out.
        "from": serializers.CharField(),
        "to": serializers.CharField(),
        "label": serializers.CharField(),
    },
)


class LineageSerializer(serializers.Serializer[Any]):
    """A graph."""

    nodes = LineageNodeSerializer(many=True)
    edges = LineageEdgeSerializer(many=True)


class DownloadFileSerializer(serializers.Serializer[Any]):
    """One file and an address that needs no credentials."""

    path = serializers.CharField()
    url = serializers.CharField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    digest = serializers.CharField()


class DownloadSerializer(serializers.Serializer[Any]):
    """The files of a version; `url` gives a single file itself and several as a zip."""

    url = serializers.CharField()
    sha256 = serializers.CharField()
    size_bytes = serializers.IntegerField()
    files = DownloadFileSerializer(many=True)
