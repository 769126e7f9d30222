"""The program that a run executes: a workflow or a command, with its checked parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atom.accounts.models import Project
from atom.jobs.models import CodeSnapshot, Workflow
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.runtimes.engines.requirements import wrong_lines
from atom.jobs.workflows.actions import workflows
from atom.jobs.workflows.engines.parameters import check_parameters
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Program:
    """The workflow or command that a run executes, with its checked parameters."""

    workflow: Workflow | None = None
    command: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    requirements: str = ""
    code: CodeSnapshot | None = None
    timeout_s: int | None = None
    errors: Errors = field(default_factory=dict)

    def may_be_narrowed(self, alias: str) -> bool:
        """Return whether a person may take a part of this input."""
        if self.workflow is None:
            return True
        return bool(self.workflow.definition.get("inputs", {}).get(alias, {}).get("narrowable"))

    @property
    def is_distributed(self) -> bool:
        """Return whether several nodes may run it together; a workflow declares it."""
        return self.workflow is None or bool(self.workflow.definition.get("distributed"))

    def parameters_of_type(self, kind: str) -> dict[str, Any]:
        """Return the values of the workflow's parameters of a type, without empty ones."""
        if self.workflow is None:
            return {}
        typed = [one.name for one in workflows.parameters_of(self.workflow) if one.type == kind]
        return {name: self.parameters[name] for name in typed if self.parameters.get(name)}


def workflow_program(project: Project, request: RunRequest) -> Program:
    """Return what a workflow runs, with what is wrong by field."""
    workflow = workflows.find(project, request.workflow)
    if workflow is None:
        return Program(
            errors={
                "workflow": [
                    Sentence(
                        "jobs.workflow_unknown",
                        "There is no workflow '{workflow}'.",
                        workflow=request.workflow,
                    )
                ]
            }
        )
    errors: Errors = {}
    if request.command:
        errors["command"] = [
            Sentence(
                "jobs.workflow_has_command", "A workflow brings its own command: leave this out."
            )
        ]
    for name in request.datasets:
        # The workflow declares which data its code may see: a person who could add the test split
        # to a training would make its test worthless.
        reason = Sentence(
            "jobs.workflow_reads_own_datasets",
            "A workflow reads the datasets that its parameters name, as it declares.",
        )
        errors[f"datasets.{name}"] = [reason]
    checked = check_parameters(workflows.parameters_of(workflow), request.parameters)
    errors |= {f"parameters.{name}": reasons for name, reasons in checked.errors.items()}
    definition = workflow.definition
    return Program(
        workflow=workflow,
        command=list(definition["command"]),
        parameters=checked.values,
        requirements=definition["requirements"],
        timeout_s=definition.get("timeout_s"),
        errors=errors,
    )


def command_program(project: Project, request: RunRequest) -> Program:
    """Return what a command of a person runs, with what is wrong by field."""
    errors: Errors = {}
    if reasons := wrong_lines(request.requirements):
        errors["requirements"] = reasons
    if not request.command or not request.command[0].strip():
        errors["command"] = [
            Sentence("jobs.command_missing", "Give a command, or choose a workflow.")
        ]
    code = None
    if request.code_snapshot is not None:
        code = CodeSnapshot.objects.filter(pk=request.code_snapshot, project=project).first()
        if code is None:
            errors["code_snapshot"] = [
                Sentence("jobs.code_unknown", "There is no such code snapshot in this project.")
            ]
        elif not code.ready:
            errors["code_snapshot"] = [
                Sentence("jobs.code_not_uploaded", "Its upload has not been completed.")
            ]
    return Program(
        command=list(request.command),
        parameters=dict(request.parameters),
        requirements=request.requirements,
        code=code,
        errors=errors,
    )
