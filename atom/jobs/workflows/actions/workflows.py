"""Built-in workflows: from their folders into the table."""

from __future__ import annotations

from pathlib import Path

from atom.accounts.models import Project
from atom.jobs.code.actions import code
from atom.jobs.code.pipelines.archive import pack_files
from atom.jobs.models import CodeSnapshot, Workflow
from atom.jobs.workflows.engines.parameters import Parameter, parse_parameter
from atom.jobs.workflows.engines.workflow_files import load_workflows

BUILT_IN = Path(__file__).resolve().parents[1] / "builtin"


def sync_workflows(root: Path = BUILT_IN) -> list[Workflow]:
    """Write every workflow under `root` into the table; one that did not change stays."""
    return [
        Workflow.objects.update_or_create(
            project=None,
            slug=found.slug,
            defaults={
                "version": found.version,
                "title": found.title,
                "description": found.description,
                "definition": found.definition(),
            },
        )[0]
        for found in load_workflows(root)
    ]


def find(project: Project | None, slug: str) -> Workflow | None:
    """Return the project's own workflow of this name, or else the built-in one."""
    found = Workflow.objects.filter(slug=slug)
    own = found.filter(project=project).first() if project is not None else None
    return own or found.filter(project=None).first()


def parameters_of(workflow: Workflow) -> list[Parameter]:
    """Return the typed parameters."""
    return [parse_parameter(one) for one in workflow.definition["parameters"]]


def snapshot_of(workflow: Workflow, project: Project) -> CodeSnapshot:
    """Store the workflow's code in the project, so that its runs can be repeated for ever."""
    names = workflow.definition["code"]
    data = pack_files(BUILT_IN / workflow.definition["folder"], names)
    return code.store(project, data, len(names))
