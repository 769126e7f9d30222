"""Checks of a request for a run, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atom.accounts.models import RANK, Project, User
from atom.accounts.permissions import role_in
from atom.clusters.actions import AUTO
from atom.clusters.models import Cluster
from atom.core.errors import AtomError, NotFound
from atom.datasets.models import Version
from atom.jobs.errors import InvalidParameters, InvalidRun, ResourcesNeverFit
from atom.jobs.models import CodeSnapshot, Workflow
from atom.jobs.runs.actions.chosen_cluster import (
    choose_cluster,
    usable_clusters,
    wrong_cluster_deliveries,
    wrong_nodes,
)
from atom.jobs.runs.actions.decide import Decision, decide
from atom.jobs.runs.actions.plan_data import (
    References,
    choose_data,
    resolve_references,
    selection_of,
    wrong_deliveries_of,
)
from atom.jobs.runs.actions.program import Program, command_program, workflow_program
from atom.jobs.runs.actions.questions import Question
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.runs.actions.start_request import wrong_start
from atom.jobs.runs.model_resolver import ResolvedModel, model_resolver
from atom.jobs.scheduling.engines.accelerators import without_gpus
from atom.jobs.scheduling.engines.placement import Demand
from atom.jobs.secrets.actions import secrets
from atom.jobs.secrets.engines.variables import wrong_name
from atom_sdk.sentences import Sentence

# The role that the API requires for writing datasets.
WRITER_ROLE = "researcher"


DEFAULT_RESOURCES = {"cpus": 1, "memory_bytes": 1 << 30, "gpus": 0}


@dataclass(frozen=True)
class RunPlan:
    """The request with everything looked up; `errors` by field, empty if it can run."""

    project: Project
    request: RunRequest
    workflow: Workflow | None
    parameters: dict[str, Any]
    command: list[str]
    requirements: str
    code: CodeSnapshot | None
    inputs: dict[str, Version]
    # The part of each input that the run sees; {} is the whole version.
    selectors: dict[str, dict[str, Any]]
    # The saved views that were named; their queries are in the selectors.
    views: dict[str, str]
    models: dict[str, ResolvedModel]
    demand: Demand
    timeout_s: int | None
    # The registered cluster that was chosen; without one, Atom's own machines.
    cluster: Cluster | None
    # The places that Atom compared, for a run that it places.
    decision: Decision | None
    errors: Errors
    too_large: Errors

    @property
    def has_place(self) -> bool:
        """Return whether it has a place to run; without one, it waits until one takes it."""
        return self.decision is None or self.decision.chosen is not None

    def raise_errors(self) -> None:
        """Raise what is wrong: parameters first, then fields, then resources."""
        if any(name.startswith("parameters.") for name in self.errors):
            raise InvalidParameters(errors=self.errors)
        if self.errors:
            raise InvalidRun(errors=self.errors)
        if self.too_large:
            raise ResourcesNeverFit(errors=self.too_large)


def plan_run(project: Project, user: User, request: RunRequest) -> RunPlan:
    """Look everything up and collect what is wrong; writes nothing.

    Each stage takes the request and what stages before it found, and changes none of it.
    """
    program = (
        workflow_program(project, request)
        if request.workflow
        else command_program(project, request)
    )
    references = resolve_references(project, user, request, program)
    choice = choose_data(request, program, references)
    selection = selection_of(request, program, references, choice)
    wrong_data = {**program.errors, **references.errors, **selection.errors}
    models, wrong_models = _models(project, program)
    chosen = choose_cluster(project, user, request)
    asked = _demand(request, program)
    decision = None
    if request.cluster == AUTO:
        decision = decide(project, user, _question(request, program, references, asked))
        chosen = replace(chosen, **_place_in(project, user, decision))
    demand = chosen.demand(asked)
    wrong_accelerator = chosen.wrong_accelerator(demand)
    if decision is not None and demand.accelerator and not demand.gpus:
        wrong_accelerator = {"accelerator": [without_gpus(demand.accelerator)]}
    return RunPlan(
        project=project,
        request=request,
        workflow=program.workflow,
        parameters=program.parameters
        | _pinned_parameters(program, references)
        | {name: model.reference for name, model in models.items()},
        command=program.command,
        requirements=program.requirements,
        code=program.code,
        inputs=references.versions,
        selectors=selection.selectors,
        views=selection.views,
        models=models,
        demand=demand,
        timeout_s=program.timeout_s,
        cluster=chosen.cluster,
        decision=decision,
        errors={
            **wrong_data,
            **wrong_cluster_deliveries(chosen.cluster, request, references.versions),
            **wrong_deliveries_of(request, references, wrong_data),
            **wrong_start(chosen.cluster, request, references.versions),
            **chosen.errors,
            **wrong_nodes(chosen.cluster, request, program),
            **wrong_accelerator,
            **wrong_models,
            **_wrong_env(request),
            **_wrong_secrets(project, request),
            **_wrong_write(project, user, request),
        },
        too_large={}
        if wrong_accelerator or decision is not None
        else chosen.never_fits(demand, request.nodes)
        or chosen.never_builds(program.requirements, request.image, project),
    )


def _pinned_parameters(program: Program, references: References) -> dict[str, str]:
    pinned = references.pinned
    return {name: pinned[name] for name in program.parameters_of_type("dataset") if name in pinned}


def _models(project: Project, program: Program) -> tuple[dict[str, ResolvedModel], Errors]:
    resolve = model_resolver()
    models: dict[str, ResolvedModel] = {}
    errors: Errors = {}
    for name, reference in program.parameters_of_type("model").items():
        try:
            if resolve is None:
                raise NotFound(
                    Sentence("jobs.no_model_registry", "This installation has no model registry.")
                )
            models[name] = resolve(project, reference)
        except AtomError as error:
            errors[f"parameters.{name}"] = [str(error)]
    return models, errors


def _wrong_env(request: RunRequest) -> Errors:
    errors: Errors = {}
    for name, value in request.env.items():
        if reasons := wrong_name(name):
            errors[f"env.{name}"] = [reasons]
        elif "\0" in value:
            errors[f"env.{name}"] = [
                Sentence("jobs.variable_invalid", "Not a valid value of a variable.")
            ]
    return errors


def _wrong_secrets(project: Project, request: RunRequest) -> Errors:
    errors: Errors = {
        f"secrets.{name}": [
            Sentence("jobs.secret_unknown", "The project has no secret of this name.")
        ]
        for name in secrets.unknown_names(project, request.secrets)
    }
    for name in request.secrets:
        if name in request.env:
            errors[f"env.{name}"] = [
                Sentence(
                    "jobs.variable_and_secret", "A secret of this name is given too: leave one out."
                )
            ]
    return errors


def _wrong_write(project: Project, user: User, request: RunRequest) -> Errors:
    if not request.may_write:
        return {}
    if request.workflow:
        return {"may_write": ["A workflow says itself whether it writes: leave this out."]}
    role = role_in(user, project)
    if role is not None and RANK[role] >= RANK[WRITER_ROLE]:
        return {}
    return {
        "may_write": [
            f"A run writes with the rights of who starts it, and writing datasets needs the role "
            f"{WRITER_ROLE} in {project.slug}: leave this out, or ask an admin for the role."
        ]
    }


def _question(
    request: RunRequest, program: Program, references: References, demand: Demand
) -> Question:
    """Return what the run asks of its place."""
    return Question(
        demand=demand,
        nodes=request.nodes,
        image=request.image,
        requirements=program.requirements,
        inputs=references.versions,
        workflow=program.workflow.slug if program.workflow else "",
        command=() if program.workflow else tuple(program.command),
    )


def _place_in(project: Project, user: User, decision: Decision) -> dict[str, Any]:
    """Return the cluster and the offer of the chosen place."""
    place = next((place for place in decision.places if place.name == decision.chosen), None)
    if place is None:
        return {}
    clusters = usable_clusters(project, user)
    cluster = clusters.get(name=place.name) if place.is_registered else None
    return {"cluster": cluster, "offer": place.offer}


def _demand(request: RunRequest, program: Program) -> Demand:
    defaults = program.workflow.definition["resources"] if program.workflow is not None else {}
    resources = {**DEFAULT_RESOURCES, **defaults, **request.resources}
    return Demand(
        resources["cpus"], resources["memory_bytes"], resources["gpus"], request.accelerator
    )
