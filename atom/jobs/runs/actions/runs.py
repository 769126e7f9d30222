"""Runs: create, cancel, retry, clone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.clusters.actions import AUTO, LOCAL
from atom.core import clock, tracing
from atom.jobs import effects, states
from atom.jobs.attempts.actions.version_pins import pin, unpin
from atom.jobs.deliveries import PACKS
from atom.jobs.errors import NotCancellable, NotRetryable, RunIsTracked
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record, transition
from atom.jobs.executors import environments_in
from atom.jobs.launchers import PLAIN
from atom.jobs.models import Run, RunFile, RunInput, RunKeeping
from atom.jobs.runs.actions.plan import RunPlan, plan_run
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.runs.actions.start_request import delivery_of, start_of
from atom.jobs.runs.actions.stored_decisions import keep_decision
from atom.jobs.runs.engines.run_names import suggested_name
from atom.jobs.scheduling.actions.data_gates import release_gates
from atom.jobs.start_ways import NOW, SHARE
from atom.jobs.tracking.actions.tracked import report_state
from atom.jobs.workflows.actions import workflows
from atom_sdk.sentences import Sentence

_LOCK_PROJECT = "SELECT 1 FROM accounts_project WHERE id = %s FOR NO KEY UPDATE"
_LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM jobs_run WHERE project_id = %s"
DEFAULT_MAX_RETRIES = 2
_HOW_IT_ENDED = {
    states.SUCCEEDED: "has succeeded",
    states.FAILED: "has failed",
    states.CANCELLED: "was cancelled",
}


def create_run(project: Project, user: User, request: RunRequest) -> Run:
    """Check the request and put a run into the queue.

    Raises InvalidParameters, InvalidRun, ResourcesNeverFit.
    """
    plan = plan_run(project, user, request)
    plan.raise_errors()
    with transaction.atomic():
        run = _insert(project, user, plan)
        said = {"may_write": True} if run.may_write else {}
        audit.record(user, "run.created", run, project, name=run.name, **said)
        _note(run, EventKind.CREATED, user, "started the run")
        enqueue_run(run)
    return run


def _note(run: Run, kind: EventKind, user: User, did: str) -> None:
    record(run, kind, f"{user.username} {did}.", user=user.username)


def _default_name(plan: RunPlan) -> str:
    if plan.workflow is None:
        return plan.command[0]
    parameters = workflows.parameters_of(plan.workflow)
    return suggested_name(parameters, plan.parameters) or plan.workflow.title


def _insert(project: Project, user: User, plan: RunPlan) -> Run:
    number = next_number(project)
    request = plan.request
    code = workflows.snapshot_of(plan.workflow, project) if plan.workflow else plan.code
    runtime = None
    if plan.has_place:
        environments = environments_in(plan.cluster)
        runtime = environments.ensure(plan.requirements, request.image, project)
    run = Run.objects.create(
        project=project,
        number=number,
        name=request.name or _default_name(plan),
        workflow=plan.workflow,
        workflow_version=plan.workflow.version if plan.workflow else "",
        command=plan.command,
        parameters=plan.parameters,
        env=request.env,
        secrets=sorted(set(request.secrets)),
        cpus=int(plan.demand.cpus),
        memory_bytes=plan.demand.memory_bytes,
        gpus=plan.demand.gpus,
        accelerator=plan.demand.accelerator,
        nodes=request.nodes,
        launcher=request.launcher,
        start_when=request.start.when if request.start else "",
        start_percent=request.start.percent if request.start else None,
        runtime=runtime,
        cluster=plan.cluster,
        has_place=plan.has_place,
        auto_request=auto_request(plan, request.accelerator) if plan.decision else None,
        image=request.image,
        code=code,
        created_by=user,
        timeout_s=request.timeout_s or plan.timeout_s,
        max_retries=DEFAULT_MAX_RETRIES if request.max_retries is None else request.max_retries,
        tags=request.tags,
        may_write=request.may_write,
        trace_parent=tracing.current(),
    )
    RunInput.objects.bulk_create(
        RunInput(
            run=run,
            alias=alias,
            version=version,
            selector=plan.selectors.get(alias, {}),
            view=plan.views.get(alias, ""),
            delivery=delivery_of(request, plan.cluster, alias),
        )
        for alias, version in plan.inputs.items()
    )
    RunFile.objects.bulk_create(
        RunFile(
            run=run,
            alias=alias,
            reference=model.reference,
            path=f"{alias}/{path}",
            artifact=artifact,
        )
        for alias, model in plan.models.items()
        for path, artifact in model.files.items()
    )
    RunFile.objects.bulk_create(
        RunFile(run=run, alias=path.split("/")[0], reference=path, path=path, artifact=artifact)
        for path, artifact in request.files.items()
    )
    if plan.decision is not None:
        keep_decision(run, plan.decision)
    return run


def auto_request(plan: RunPlan, accelerator: str) -> dict[str, Any]:
    """Return what a run that Atom places needs to be fitted to another place."""
    return {
        "accelerator": accelerator,
        "requirements": plan.requirements,
        "deliveries": dict(plan.request.deliveries),
    }


def next_number(project: Project) -> int:
    """Return the number of the project's next run; its row is locked until the caller commits."""
    # Lock first: two runs created at once must not get one number. Not the key: what names the
    # project is added meanwhile.
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_PROJECT, [project.pk])
        if cursor.fetchone() is None:
            raise Project.DoesNotExist
        cursor.execute(_LAST_NUMBER, [project.pk])
        (last,) = cursor.fetchone()
    return int(last) + 1


def enqueue_run(run: Run) -> None:
    """Put a run into the queue, pin what it reads and wake the reconciler."""
    run.queued_at = clock.now()
    run.retry_at = run.finished_at = run.cancel_requested_at = None
    run.failure_class = run.failure_reason = run.suggestion = ""
    transition(run, states.QUEUED)
    # The new logs and outputs are announced and removed like those of any other run.
    RunKeeping.objects.filter(run=run).update(due_at=None, removed_at=None, removed_bytes=0)
    pin(run)
    if run.runtime is not None:
        environments_in(run.cluster).request(run.runtime)
    effects.wake()


def cancel_run(run_id: UUID, user: User) -> Run:
    """Ask a run to stop; one that waits is over at once. Raises NotCancellable."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.state in states.TERMINAL:
            raise NotCancellable(
                Sentence(
                    "jobs.run_ended_already",
                    "Run {run} {outcome} already.",
                    run=run.number,
                    outcome=_HOW_IT_ENDED[run.state],
                )
            )
        if run.cancel_requested_at is None:
            run.cancel_requested_at = clock.now()
            _note(run, EventKind.CANCEL_REQUESTED, user, "asked to cancel the run")
            audit.record(user, "run.cancel_requested", run, run.project, name=run.name)
        if run.origin != states.EXECUTED:
            # Nothing of ours runs that could be stopped: its program is not waited for.
            run.save(update_fields=["cancel_requested_at", "updated_at"])
            report_state(run, states.CANCELLED)
        elif run.state in states.WAITING:
            end_placement(run)
            transition(run, states.CANCELLED)
            unpin(run)
        else:
            run.save(update_fields=["cancel_requested_at", "updated_at"])
            announce(run)
            effects.wake()
    return run


def end_placement(run: Run) -> None:
    """Give up the Job and the data that a waiting run keeps for its next attempt.

    The caller holds the run's row lock.
    """
    run.placements.filter(ended_at=None).update(ended_at=clock.now())
    release_gates(run)


def retry_run(run_id: UUID, user: User) -> Run:
    """Start another attempt from the last durable checkpoint.

    Raises NotRetryable, RunIsTracked.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        _refuse_tracked(run)
        if run.state not in (states.FAILED, states.CANCELLED):
            state = run.state.replace("_", " ")
            outcome = _HOW_IT_ENDED.get(run.state) or Sentence("jobs.is", "is {state}", state=state)
            raise NotRetryable(
                Sentence("jobs.run_ended", "Run {run} {outcome}.", run=run.number, outcome=outcome)
            )
        _note(run, EventKind.RETRIED, user, "asked for another attempt")
        audit.record(user, "run.retried", run, run.project, name=run.name)
        enqueue_run(run)
    return run


def request_like(run: Run) -> RunRequest:
    """Return the request that makes a run like this one."""
    own = run.workflow is None
    inputs = list(run.inputs.select_related("version__dataset"))
    requirements = run.runtime.requirements if run.runtime else ""
    place = run.cluster.name if run.cluster else ""
    accelerator = run.accelerator
    deliveries = {one.alias: one.delivery for one in inputs if one.delivery != PACKS}
    if run.auto_request is not None:
        place, accelerator = AUTO, run.auto_request["accelerator"]
        requirements = run.auto_request["requirements"]
        deliveries = run.auto_request["deliveries"]
    return RunRequest(
        name=run.name,
        workflow=run.workflow.slug if run.workflow else "",
        parameters=run.parameters,
        command=list(run.command) if own else [],
        code_snapshot=run.code_id if own else None,
        requirements=requirements if own else "",
        # The inputs of a workflow follow from its parameters, but for what people narrow or choose.
        datasets={one.alias: f"{one.version.dataset.name}@{one.version.ref}" for one in inputs}
        if own
        else {},
        selectors={one.alias: found for one in inputs if (found := _selection_of(one, own=own))},
        deliveries=deliveries,
        resources={"cpus": run.cpus, "memory_bytes": run.memory_bytes, "gpus": run.gpus},
        accelerator=accelerator,
        nodes=run.nodes,
        launcher=run.launcher,
        start=start_of(run),
        env=run.env,
        secrets=list(run.secrets),
        timeout_s=run.timeout_s,
        max_retries=run.max_retries,
        tags=run.tags,
        may_write=run.may_write,
        cluster=place,
        image=run.image,
    )


def _selection_of(one: RunInput, *, own: bool) -> dict[str, Any]:
    """Return what a person selected: the text of a view, which may be another by now."""
    if own:
        return dict(one.selector)
    return {"where": one.selector["where"]} if "where" in one.selector else {}


def clone_run(run: Run, user: User, changes: Mapping[str, Any] | None = None) -> Run:
    """Start a new run with the same code, data, parameters and resources, but for `changes`.

    Parameters and resources that `changes` does not name stay. Raises RunIsTracked, and the errors
    of `create_run`.
    """
    _refuse_tracked(run)
    request = request_like(run)
    changed = dict(changes or {})
    for name in ("parameters", "resources"):
        if name in changed:
            changed[name] = {**getattr(request, name), **changed[name]}
    if "resources" in changed and not changed["resources"]["gpus"]:
        # A kind of no GPU is refused; the copy did not ask for one.
        changed.setdefault("accelerator", "")
    is_auto = run.auto_request is not None
    if changed.get("cluster") == AUTO and not is_auto:
        # The place decides anew how the data comes.
        changed = {"deliveries": {}, **changed}
    if (run.cluster is not None or is_auto) and changed.get("cluster") in ("", LOCAL):
        # The cluster forced streams; its image, and several nodes, start nowhere else.
        changed = {"image": "", "deliveries": {}, "nodes": 1, **changed}
    if "start" in changed and run.cluster is None and run.start_when in (NOW, SHARE):
        # The old start forced streams.
        changed = {"deliveries": {}, **changed}
    if changed.get("nodes") == 1:
        changed.setdefault("launcher", PLAIN)
    return create_run(run.project, user, replace(request, **changed))


def _refuse_tracked(run: Run) -> None:
    if run.origin != states.EXECUTED:
        raise RunIsTracked
