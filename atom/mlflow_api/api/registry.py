"""Helpers of the endpoints of registered models and of their versions."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Prefetch, QuerySet, TextField, Value
from django.db.models.functions import Coalesce

from atom.mlflow_api.actions.registry import find_model, stage_of
from atom.mlflow_api.api.base import MlflowView
from atom.mlflow_api.engines import filters
from atom.mlflow_api.engines.filters import BadFilter
from atom.mlflow_api.engines.ids import model_id, uuid_of
from atom.mlflow_api.engines.sources import MODEL_VERSIONS, SCHEME
from atom.mlflow_api.errors import BadParameter, ResourceMissing
from atom.mlflow_api.models import LoggedModel
from atom.mlflow_api.rendering import ms, pairs, run_artifact_uri, without_none
from atom.mlflow_api.search import Field, label_of, number_value, text_value, time_value
from atom.models_registry.models import Alias, Model, ModelVersion

MAX_NAME = 256
MAX_DESCRIPTION = 10_000
_PROMPT = "mlflow.prompt.is_prompt"


def name_of(model: Model) -> str:
    """Return what MLflow calls the model; `mlflow_name` is loaded with it."""
    named = getattr(model, "mlflow_name", None)
    return model.name if named is None else str(named.name)


def models_of(view: MlflowView) -> QuerySet[Model]:
    """Return the project's models with what a message of one needs but its versions."""
    aliases = Prefetch("aliases", Alias.objects.select_related("version").order_by("name"))
    models = Model.objects.filter(project=view.project).select_related("mlflow_name", "created_by")
    return models.annotate(shown_name=Coalesce(F("mlflow_name__name"), F("name"))).prefetch_related(
        aliases
    )


def versions_of(view: MlflowView) -> QuerySet[ModelVersion]:
    """Return the project's versions with what a message of one needs."""
    versions = ModelVersion.objects.filter(model__project=view.project)
    joined = versions.select_related("model__mlflow_name", "model__project", "run", "created_by")
    shown = Coalesce(F("model__mlflow_name__name"), F("model__name"))
    return joined.annotate(shown_name=shown).prefetch_related(
        Prefetch("aliases", Alias.objects.order_by("name"))
    )


class RegistryView(MlflowView):
    """Base of the registry's endpoints."""

    def model_named(self) -> Model:
        """Return the model that the message names. Raises ResourceMissing."""
        name = self.message.text("name")
        found = find_model(self.project, name)
        if found is None:
            raise ResourceMissing(f"Registered Model with name={name[:MAX_NAME]} not found")
        return found

    def version_named(self) -> ModelVersion:
        """Return the version that the message names. Raises ResourceMissing."""
        text = self.message.text("version")
        if not text.isdecimal() or len(text) > 9:
            raise BadParameter(f"Parameter 'version' must be an integer, got '{text[:50]}'.")
        model = self.model_named()
        found = versions_of(self).filter(model=model, number=int(text)).first()
        if found is None:
            raise ResourceMissing(
                f"Model Version (name={name_of(model)}, version={text}) not found"
            )
        return found


def version_messages(versions: list[ModelVersion]) -> list[dict[str, Any]]:
    """Return versions of `versions_of`, in a fixed number of queries."""
    logged = LoggedModel.objects.filter(run__in={one.run_id for one in versions})
    ids = {(one.run_id, one.path): model_id(one.pk) for one in logged}
    return [_version(one, ids.get((one.run_id, one.artifact_path))) for one in versions]


def _version(version: ModelVersion, logged_id: str | None) -> dict[str, Any]:
    aliases = [alias.name for alias in version.aliases.all()]
    folder = f"{run_artifact_uri(version.run.pk)}/{version.artifact_path}".rstrip("/")
    return without_none(
        {
            "name": name_of(version.model),
            "version": str(version.number),
            "creation_timestamp": ms(version.created_at),
            "last_updated_timestamp": ms(version.updated_at),
            "user_id": version.created_by.username if version.created_by else "",
            "current_stage": stage_of(aliases),
            "description": version.description,
            "source": f"models:/{logged_id}" if logged_id else folder,
            "run_id": version.run.pk.hex,
            "status": "READY",
            "tags": pairs(version.labels),
            "aliases": aliases,
            "model_id": logged_id,
        }
    )


def download_uri(version: ModelVersion) -> str:
    """Return where the files that the version keeps are."""
    return f"{SCHEME}{MODEL_VERSIONS}/{version.pk.hex}"


def model_messages(view: MlflowView, models: list[Model]) -> list[dict[str, Any]]:
    """Return models of `models_of` with their newest versions, in a fixed number of queries."""
    newest = versions_of(view).filter(model__in=models).order_by("model", "-number")
    found = version_messages(list(newest.distinct("model")))
    latest = {one["name"]: one for one in found}
    return [_model(one, latest.get(name_of(one))) for one in models]


def _model(model: Model, latest: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "name": name_of(model),
        "creation_timestamp": ms(model.created_at),
        "last_updated_timestamp": ms(model.updated_at),
        "user_id": model.created_by.username if model.created_by else "",
        "description": model.description,
        "latest_versions": [latest] if latest else [],
        "tags": pairs(model.labels),
        "aliases": [
            {"alias": alias.name, "version": str(alias.version.number)}
            for alias in model.aliases.all()
        ],
    }


def _run_ids(value: Any) -> Any:
    return [found] if (found := uuid_of(text_value(value))) else []


def _numbers(value: Any) -> Any:
    return int(number_value(value))


_MODEL_ATTRIBUTES: dict[str, Field] = {
    "name": (F("shown_name"), text_value),
    "creation_timestamp": (F("created_at"), time_value),
    "last_updated_timestamp": (F("updated_at"), time_value),
    "timestamp": (F("updated_at"), time_value),
}
_VERSION_ATTRIBUTES: dict[str, Field] = {
    **_MODEL_ATTRIBUTES,
    "run_id": (F("run_id"), _run_ids),
    "version_number": (F("number"), _numbers),
    "version": (F("number"), _numbers),
    "source_path": (F("artifact_path"), text_value),
}


def model_field(entity: str, key: str) -> Field:
    """Return what a name means in a search of models. Raises BadFilter."""
    return _of(_MODEL_ATTRIBUTES, entity, key)


def version_field(entity: str, key: str) -> Field:
    """Return what a name means in a search of versions. Raises BadFilter."""
    return _of(_VERSION_ATTRIBUTES, entity, key)


def _of(attributes: dict[str, Field], entity: str, key: str) -> Field:
    if entity == filters.TAG:
        label, read = label_of(key)
        # The client asks for every model without it, and means those that have no such tag too.
        return (
            (Coalesce(label, Value(""), output_field=TextField()), read)
            if key == _PROMPT
            else (label, read)
        )
    found = attributes.get(key.lower())
    if entity != filters.ATTRIBUTE or found is None:
        raise BadFilter(
            f"Invalid attribute key '{key}'. Valid keys are: {', '.join(sorted(attributes))}."
        )
    return found
