"""Resolve `model` parameters for jobs."""

from __future__ import annotations

from atom.accounts.models import Project
from atom.jobs.models import RunInput
from atom.jobs.runs.model_resolver import ResolvedModel, TrainingInput
from atom.models_registry.reads import find_version


def resolve_model(project: Project, reference: str) -> ResolvedModel:
    """Return the files of the named version. Raises ModelVersionNotFound."""
    version = find_version(project, reference)
    files = {file.path: file.artifact for file in version.files.select_related("artifact")}
    inputs = RunInput.objects.select_related("version__dataset__project").filter(run=version.run_id)
    trained_on = [
        TrainingInput(one.version, one.selector.get("split"), one.selector.get("where", ""))
        for one in inputs
    ]
    return ResolvedModel(f"{version.model.name}@v{version.number}", files, trained_on)
