"""Reads of models and versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery

from atom.accounts.models import Project
from atom.datasets.models import Branch
from atom.jobs.models import RunInput
from atom.models_registry.engines.references import parse_model_reference
from atom.models_registry.errors import ModelVersionNotFound
from atom.models_registry.models import Alias, Evaluation, Model, ModelFile, ModelVersion
from atom_sdk.sentences import Sentence


def models_of(project: Project) -> QuerySet[Model]:
    """Return the project's models with `versions_count`, `latest_id` and their aliases."""
    latest = ModelVersion.objects.filter(model=OuterRef("pk")).order_by("-number")
    aliases = Prefetch("aliases", Alias.objects.select_related("version").order_by("name"))
    return (
        Model.objects.filter(project=project)
        .annotate(versions_count=Count("versions"), latest_id=Subquery(latest.values("pk")[:1]))
        .prefetch_related(aliases)
    )


def versions_for_display() -> QuerySet[ModelVersion]:
    """Return versions with everything that an answer shows, in a fixed number of queries."""
    joined = Evaluation.objects.select_related("dataset_version__dataset", "run", "model_version")
    # The confusion matrix of a thousand labels has megabytes.
    evaluations = joined.defer("confusion")
    return ModelVersion.objects.select_related("model", "run", "created_by").prefetch_related(
        Prefetch("run__inputs", _inputs_with_heads()),
        Prefetch("aliases", Alias.objects.order_by("name")),
        Prefetch("files", ModelFile.objects.order_by("path")),
        Prefetch("evaluations", evaluations.order_by("-created_at", "-id")),
    )


def _inputs_with_heads() -> QuerySet[RunInput]:
    """Return what runs read, each dataset with the head of its `main` as `main_branches`."""
    mains = Branch.objects.filter(name="main").select_related("head")
    inputs = RunInput.objects.select_related("version__dataset").order_by("alias")
    return inputs.prefetch_related(
        Prefetch("version__dataset__branches", mains, to_attr="main_branches")
    )


def latest_versions(models: Iterable[Model]) -> dict[Any, ModelVersion]:
    """Return `{model id: newest version}` for models of `models_of`."""
    ids = [getattr(model, "latest_id", None) for model in models]
    found = versions_for_display().filter(pk__in=[pk for pk in ids if pk is not None])
    return {version.model_id: version for version in found}


def find_version(project: Project, reference: str) -> ModelVersion:
    """Return the version that `digits@v1`, `digits@production` or `digits` names.

    Raises ModelVersionNotFound.
    """
    wanted = parse_model_reference(reference)
    versions = ModelVersion.objects.filter(model__project=project, model__name=wanted.name)
    if wanted.number is not None:
        versions = versions.filter(number=wanted.number)
    elif wanted.alias:
        versions = versions.filter(aliases__name=wanted.alias)
    found = versions.select_related("model").order_by("-number").first()
    if found is None:
        raise ModelVersionNotFound(
            Sentence(
                "models.version_unknown",
                "There is no model version {version} in {project}.",
                version=repr(reference),
                project=project.slug,
            )
        )
    return found
