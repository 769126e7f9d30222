"""The registry under MLflow's names: real models, versions and aliases of Atom's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from atom.accounts.models import Project, User
from atom.core.storage import objects
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Artifact, Run
from atom.mlflow_api.engines.model_files import framework_of
from atom.mlflow_api.engines.names import is_model_name, slug_of
from atom.mlflow_api.errors import BadParameter, ResourceExists
from atom.mlflow_api.models import RegisteredName
from atom.models_registry import actions
from atom.models_registry.models import Alias, Model, ModelVersion

DESCRIPTION_FILE = "MLmodel"
_MAX_DESCRIPTION_BYTES = 1 << 20
# MLflow's stages, which it has given up for aliases.
STAGES = {"staging": "Staging", "production": "Production", "archived": "Archived"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the files of a version are: a run, and a path in it."""

    run: Run
    path: str


def find_model(project: Project, name: str) -> Model | None:
    """Return the model that MLflow calls `name`: by that name, else by Atom's."""
    named = RegisteredName.objects.filter(project=project, name=name)
    found = named.select_related("model__project").first()
    if found is not None:
        return found.model
    models = Model.objects.filter(project=project, name=name, mlflow_name=None)
    return models.select_related("project").first()


@transaction.atomic
def create_registered(project: Project, user: User, name: str, description: str) -> Model:
    """Make a model under MLflow's name. Raises ResourceExists, BadParameter."""
    _check_free(project, name)
    model = actions.create_model(project, user, _slug(project, name), description)
    _note_name(model, name)
    return model


@transaction.atomic
def rename_registered(model: Model, user: User, name: str) -> None:
    """Rename the model in Atom and in MLflow. Raises ResourceExists, BadParameter."""
    _check_free(model.project, name)
    RegisteredName.objects.filter(model=model).delete()
    slug = _slug(model.project, name, without=model)
    if slug != model.name:
        actions.rename_model(model, user, slug)
    _note_name(model, name)


def _check_free(project: Project, name: str) -> None:
    if not is_model_name(name):
        raise BadParameter(
            f"Invalid model name: '{name[:256]}'. A name has 1 to 256 characters, without '/' "
            "and ':'."
        )
    # Lock first: two programs may register one name at once.
    Project.objects.select_for_update().get(pk=project.pk)
    if find_model(project, name) is not None:
        raise ResourceExists(f"Registered Model (name={name}) already exists.")


def _slug(project: Project, name: str, without: Model | None = None) -> str:
    others = Model.objects.filter(project=project)
    if without is not None:
        others = others.exclude(pk=without.pk)
    return slug_of(name, frozenset(others.values_list("name", flat=True)))


def _note_name(model: Model, name: str) -> None:
    if model.name != name:
        RegisteredName.objects.create(project=model.project, model=model, name=name)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """Everything that a program says of a version; `asked_at` is when its request came."""

    origin: Origin
    description: str
    labels: Mapping[str, str]
    asked_at: datetime


def create_version(model: Model, user: User, new: NewVersion) -> ModelVersion:
    """Register the files of a run; the same files again are another version, as to MLflow.

    The client repeats a request that takes it too long, and to read large files does: one that
    came while its like was handled has that version. It also repeats one that failed, so that a
    failure leaves nothing behind.
    """
    run, path = new.origin.run, new.origin.path.strip("/")
    wanted = actions.Registration(run, path, user, new.description, again_since=new.asked_at)
    files = actions.verified_files(wanted)
    framework = _framework(files)
    with transaction.atomic():
        version, is_new = actions.insert_version(model, wanted, files)
        if is_new:
            _complete(version, new, framework)
    return version


def _complete(version: ModelVersion, new: NewVersion, framework: str) -> None:
    if not version.framework and framework:
        ModelVersion.objects.filter(pk=version.pk).update(framework=framework)
    if new.labels:
        actions.label(version, new.labels)
    name = version.model.name
    text = f"Registered as version {version.number} of the model {name}."
    named = {"model_version": str(version.pk), "model": name, "number": version.number}
    record(new.origin.run, EventKind.MODEL_REGISTERED, text, None, **named)


def _framework(files: Mapping[str, Artifact]) -> str:
    artifact = files.get(DESCRIPTION_FILE)
    if artifact is None or artifact.size_bytes > _MAX_DESCRIPTION_BYTES:
        return ""
    return framework_of(objects().get(artifact.key).decode("utf-8", "replace"))[:60]


@transaction.atomic
def set_stage(version: ModelVersion, user: User, stage: str) -> None:
    """Move a stage's alias to the version; `None` takes the version's stages away."""
    wanted = stage.lower()
    if wanted != "none" and wanted not in STAGES:
        raise BadParameter(
            f"Invalid Model Version stage: {stage}. Value must be one of None, "
            f"{', '.join(STAGES.values())}."
        )
    model = version.model
    for alias in Alias.objects.filter(model=model, version=version, name__in=STAGES):
        if alias.name != wanted:
            actions.remove_alias(model, alias.name, user)
    if wanted != "none":
        actions.set_alias(model, wanted, version, user)


def stage_of(aliases: list[str]) -> str:
    """Return MLflow's stage of a version with these aliases."""
    return next((STAGES[name] for name in STAGES if name in aliases), "None")
