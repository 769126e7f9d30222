"""Checks what a person asks for before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from atom.accounts.models import RANK, Project, User
from atom.accounts.permissions import role_in
from atom.core.errors import AtomError, NotFound
from atom.datasets.browsing.queries import narrowed
from atom.datasets.catalog.reads import find_dataset, require_kept
from atom.datasets.errors import QueryInvalid, ViewNotFound
from atom.datasets.models import Version
from atom.datasets.refs import resolve_ref
from atom.jobs.deliveries import wrong_deliveries
from atom.jobs.errors import InvalidParameters, InvalidRun, ResourcesNeverFit
from atom.jobs.models import Artifact, CodeSnapshot, Workflow
from atom.jobs.runs.engines.refs import BadReferenceError, parse_reference
from atom.jobs.runs.model_resolver import ResolvedModel, model_resolver
from atom.jobs.runtimes.engines.requirements import wrong_lines
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.engines.placement import Demand, never_fits
from atom.jobs.secrets.actions import secrets
from atom.jobs.secrets.engines.variables import wrong_name
from atom.jobs.workflows.actions import workflows
from atom.jobs.workflows.engines.parameters import check_parameters
from atom.jobs.workflows.engines.selection import TRAINING, selector_of

# What the API asks of who writes datasets.
WRITER_ROLE = "researcher"
DEFAULT_RESOURCES = {"cpus": 1, "memory_bytes": 1 << 30, "gpus": 0}
_ALIAS = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$")

Errors = dict[str, list[str]]


@dataclass(frozen=True)
class RunRequest:
    """What a person asks for, as it came."""

    name: str = ""
    workflow: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    code_snapshot: UUID | None = None
    requirements: str = ""
    datasets: dict[str, str] = field(default_factory=dict)
    selectors: dict[str, dict[str, Any]] = field(default_factory=dict)
    deliveries: dict[str, str] = field(default_factory=dict)
    resources: dict[str, int] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    timeout_s: int | None = None
    max_retries: int | None = None
    tags: list[str] = field(default_factory=list)
    may_write: bool = False
    # What an app gives its own run to read, by the path in its input folder; no person can.
    files: Mapping[str, Artifact] = field(default_factory=dict)


@dataclass
class RunPlan:
    """The request with everything looked up; `errors` by field, empty if it can run."""

    request: RunRequest
    workflow: Workflow | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    requirements: str = ""
    code: CodeSnapshot | None = None
    inputs: dict[str, Version] = field(default_factory=dict)
    # What the run sees of each input; {} is the whole version.
    selectors: dict[str, dict[str, Any]] = field(default_factory=dict)
    # The saved views that were named; what they ask is in the selectors.
    views: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    # How the request calls each dataset, for what is said of it.
    fields: dict[str, str] = field(default_factory=dict)
    models: dict[str, ResolvedModel] = field(default_factory=dict)
    demand: Demand = field(default_factory=lambda: Demand(1, 1 << 30, 0))
    timeout_s: int | None = None
    errors: Errors = field(default_factory=dict)
    too_large: Errors = field(default_factory=dict)

    def raise_errors(self) -> None:
        """Raise what is wrong: parameters first, then fields, then resources."""
        if any(name.startswith("parameters.") for name in self.errors):
            raise InvalidParameters(errors=self.errors)
        if self.errors:
            raise InvalidRun(errors=self.errors)
        if self.too_large:
            raise ResourcesNeverFit(errors=self.too_large)


def plan_run(project: Project, user: User, request: RunRequest) -> RunPlan:
    """Look everything up and collect what is wrong; writes nothing."""
    plan = RunPlan(request)
    if request.workflow:
        _plan_workflow(plan, project)
    else:
        _plan_command(plan, project)
    _plan_datasets(plan, project, user)
    _plan_selectors(plan)
    _check_deliveries(plan)
    _plan_models(plan, project)
    _check_env(plan)
    _check_secrets(plan, project)
    _check_may_write(plan, project, user)
    plan.demand = _demand(plan)
    plan.too_large = never_fits(capacities(), plan.demand)
    return plan


def _plan_workflow(plan: RunPlan, project: Project) -> None:
    request = plan.request
    plan.workflow = workflows.find(project, request.workflow)
    if plan.workflow is None:
        plan.errors["workflow"] = [f"There is no workflow '{request.workflow}'."]
        return
    if request.command:
        plan.errors["command"] = ["A workflow brings its own command: leave this out."]
    for name in request.datasets:
        # What a workflow's code may see is part of the workflow: a person who could add the test
        # split to a training would make its test worthless.
        said = "A workflow reads the datasets that its parameters name, as it declares."
        plan.errors[f"datasets.{name}"] = [said]
    definition = plan.workflow.definition
    plan.command = list(definition["command"])
    plan.requirements = definition["requirements"]
    plan.timeout_s = definition.get("timeout_s")
    checked = check_parameters(workflows.parameters_of(plan.workflow), request.parameters)
    plan.parameters = checked.values
    plan.errors.update({f"parameters.{name}": said for name, said in checked.errors.items()})


def _plan_command(plan: RunPlan, project: Project) -> None:
    request = plan.request
    plan.command = list(request.command)
    plan.parameters = dict(request.parameters)
    plan.requirements = request.requirements
    if said := wrong_lines(request.requirements):
        plan.errors["requirements"] = said
    if not request.command or not request.command[0].strip():
        plan.errors["command"] = ["Give a command, or choose a workflow."]
    if request.code_snapshot is not None:
        plan.code = CodeSnapshot.objects.filter(pk=request.code_snapshot, project=project).first()
        if plan.code is None:
            plan.errors["code_snapshot"] = ["There is no such code snapshot in this project."]
        elif not plan.code.ready:
            plan.errors["code_snapshot"] = ["Its upload has not been completed."]


def _plan_datasets(plan: RunPlan, project: Project, user: User) -> None:
    wanted = {alias: (f"datasets.{alias}", text) for alias, text in plan.request.datasets.items()}
    for name in _parameters_of_type(plan, "dataset"):
        wanted[name] = (f"parameters.{name}", plan.parameters[name])
    for alias, (field_name, text) in wanted.items():
        plan.fields[alias] = field_name
        if not _ALIAS.match(alias):
            plan.errors[field_name] = [
                "An alias has letters, digits, dots, dashes, underscores; no dot or dash first."
            ]
            continue
        try:
            plan.inputs[alias] = resolve_dataset(project, user, text)
            if view := parse_reference(text).view:
                plan.views[alias] = view
        except (BadReferenceError, AtomError) as error:
            plan.errors[field_name] = [str(error)]
    for name in _parameters_of_type(plan, "dataset"):
        if name in plan.inputs:
            version = plan.inputs[name]
            # What ran stays known: `digits@main` moves on, `digits@v3` does not.
            plan.parameters[name] = f"{version.dataset.name}@{version.ref}"


def _plan_selectors(plan: RunPlan) -> None:
    declared = plan.workflow.definition.get("inputs", {}) if plan.workflow is not None else None
    if declared is not None:
        plan.selectors = {
            name: selector_of(declared.get(name, TRAINING), plan.parameters) for name in plan.inputs
        }
    for alias, selector in plan.request.selectors.items():
        if alias in plan.inputs:
            _take(plan, alias, selector)
        elif plan.fields.get(alias) not in plan.errors:
            plan.errors[f"selectors.{alias}"] = ["The run has no dataset of this alias."]
    for alias in [name for name in plan.inputs if name in plan.views or name in plan.asked]:
        if declared is not None and not declared.get(alias, {}).get("narrowable"):
            # A person who could choose what is measured would make the measure worthless.
            said = "This workflow reads the dataset as it declares: it takes no query and no view."
            plan.errors[plan.fields[alias]] = [said]
            continue
        _narrow(plan, alias)


def _take(plan: RunPlan, alias: str, selector: dict[str, Any]) -> None:
    """Note what a person selected; of a workflow's data only a part can be taken, never more."""
    given = dict(selector)
    view = given.pop("view", "")
    if view and plan.views.setdefault(alias, view) != view:
        plan.errors[f"selectors.{alias}.view"] = ["The reference names another view."]
    plan.asked[alias] = given.pop("where", "")
    if plan.workflow is None:
        plan.selectors[alias] = given
    elif given:
        said = "Of a workflow's dataset, choose by a query or a view only."
        plan.errors[f"selectors.{alias}"] = [said]


def _narrow(plan: RunPlan, alias: str) -> None:
    """Write the text of the query and of the view's into the selector."""
    view = plan.views.get(alias, "")
    try:
        query = narrowed(plan.inputs[alias].dataset, plan.asked.get(alias, ""), view)
    except ViewNotFound as error:
        named = view == plan.request.selectors.get(alias, {}).get("view")
        plan.errors[f"selectors.{alias}.view" if named else plan.fields[alias]] = [str(error)]
    except QueryInvalid as error:
        plan.errors[f"selectors.{alias}.where"] = [str(error)]
    else:
        # Without a view the text stays as it was typed.
        text = query.text if view and query else plan.asked.get(alias, "")
        if text:
            plan.selectors[alias] = {**plan.selectors.get(alias, {}), "where": text}


def _check_deliveries(plan: RunPlan) -> None:
    """A workflow's data may come in any way too: none shows more of it than its selector does."""
    wanted = plan.request.deliveries
    # What is wrong with the dataset itself was said already.
    broken = {name.partition(".")[2] for name in plan.errors}
    for alias, said in wrong_deliveries(wanted, plan.inputs.keys() | broken).items():
        plan.errors[f"deliveries.{alias}"] = [said]


def _parameters_of_type(plan: RunPlan, kind: str) -> list[str]:
    if plan.workflow is None:
        return []
    typed = workflows.parameters_of(plan.workflow)
    return [one.name for one in typed if one.type == kind and plan.parameters.get(one.name)]


def resolve_dataset(project: Project, user: User, text: str) -> Version:
    """Return the version that `dataset@ref` means now. Raises BadReferenceError, NotFound."""
    reference = parse_reference(text)
    if reference.project not in (None, project.slug):
        # Packs are cached and mounted per project, so a run reads its own project's data only.
        raise NotFound(f"'{text}' belongs to another project.")
    version: Version = resolve_ref(find_dataset(project, reference.name), reference.ref)
    require_kept(version)
    return version


def _plan_models(plan: RunPlan, project: Project) -> None:
    resolve = model_resolver()
    for name in _parameters_of_type(plan, "model"):
        try:
            if resolve is None:
                raise NotFound("This installation has no model registry.")
            plan.models[name] = resolve(project, plan.parameters[name])
            plan.parameters[name] = plan.models[name].reference
        except AtomError as error:
            plan.errors[f"parameters.{name}"] = [str(error)]


def _check_env(plan: RunPlan) -> None:
    for name, value in plan.request.env.items():
        if said := wrong_name(name):
            plan.errors[f"env.{name}"] = [said]
        elif "\0" in value:
            plan.errors[f"env.{name}"] = ["Not a valid value of a variable."]


def _check_secrets(plan: RunPlan, project: Project) -> None:
    names = plan.request.secrets
    for name in secrets.unknown_names(project, names):
        plan.errors[f"secrets.{name}"] = ["The project has no secret of this name."]
    for name in names:
        if name in plan.request.env:
            plan.errors[f"env.{name}"] = ["A secret of this name is given too: leave one out."]


def _check_may_write(plan: RunPlan, project: Project, user: User) -> None:
    if not plan.request.may_write:
        return
    if plan.request.workflow:
        plan.errors["may_write"] = ["A workflow says itself whether it writes: leave this out."]
    elif (role := role_in(user, project)) is None or RANK[role] < RANK[WRITER_ROLE]:
        plan.errors["may_write"] = [
            f"A run writes with the rights of who starts it, and writing datasets needs the role "
            f"{WRITER_ROLE} in {project.slug}: leave this out, or ask an admin for the role."
        ]


def _demand(plan: RunPlan) -> Demand:
    defaults = plan.workflow.definition["resources"] if plan.workflow is not None else {}
    wanted = {**DEFAULT_RESOURCES, **defaults, **plan.request.resources}
    return Demand(wanted["cpus"], wanted["memory_bytes"], wanted["gpus"])
