"""Moves of runs between registered clusters: a run goes on elsewhere from its last checkpoint."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.clusters.actions import AUTO, LOCAL
from atom.core import clock
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import MOVE_FIELDS, finish_move
from atom.jobs.errors import InvalidRun, NotMovable, RunIsTracked
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record
from atom.jobs.executors import environments_in
from atom.jobs.models import Run
from atom.jobs.runs.actions.decide import decide
from atom.jobs.runs.actions.plan import plan_run
from atom.jobs.runs.actions.questions import question_of
from atom.jobs.runs.actions.runs import auto_request, end_placement, enqueue_run, request_like
from atom_sdk.sentences import Sentence

# The end of the attempt has begun: it cannot be asked to stop for a move any more.
_ENDING = frozenset({states.CANCELLING, states.FINALIZING})


def move_run(
    run_id: UUID,
    user: User,
    cluster: str,
    image: str | None = None,
    accelerator: str | None = None,
) -> Run:
    """Let a run go on in another registered cluster; a failed or cancelled one starts again there.

    The command is asked to stop and may store a last checkpoint; its token ends with its attempt.
    In a cluster that does not answer, the attempt ends without its runner after half a minute.
    `cluster` may be `auto`: Atom chooses among the registered clusters, now and at later attempts.
    `image` and `accelerator` hold from the next attempt on: None for the run's own, or for those of
    the move before this one if the run still moves.
    Raises NotMovable, RunIsTracked, InvalidRun, ResourcesNeverFit.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True, of=("self",)).get(pk=run_id)
        _check_movable(run)
        is_moving = run.moving_since is not None
        if image is None:
            image = run.move_image if is_moving else run.image
        if accelerator is None:
            accelerator = run.move_accelerator if is_moving else run.accelerator
        is_auto = cluster == AUTO
        if is_auto:
            cluster = _best_cluster(run, user, image, accelerator)
        request = replace(request_like(run), cluster=cluster, image=image, accelerator=accelerator)
        # First: what this machine or the present cluster lacks does not matter.
        if wrong := _wrong_target(run, cluster):
            raise InvalidRun(errors={"cluster": [wrong]})
        plan = plan_run(run.project, user, request)
        plan.raise_errors()
        assert plan.cluster is not None
        origin = run.cluster.name if run.cluster else ""
        run.auto_request = auto_request(plan, accelerator) if is_auto else None
        run.has_place = True
        run.cluster, run.move_image = plan.cluster, image
        run.move_accelerator = plan.demand.accelerator
        run.move_runtime = environments_in(plan.cluster).ensure(
            plan.requirements, image, run.project
        )
        text = f"{user.username} moved the run to the cluster {cluster}."
        record(run, EventKind.MOVE_REQUESTED, text, user=user.username, cluster=cluster)
        audit.record(
            user, "run.moved", run, run.project, name=run.name, origin=origin, cluster=cluster
        )
        _go_on(run)
    return run


def _check_movable(run: Run) -> None:
    if run.origin != states.EXECUTED:
        raise RunIsTracked
    if run.cluster is None and run.has_place:
        raise NotMovable(
            Sentence(
                "jobs.move_own_machines",
                "Run {run} belongs to Atom's own machines, which start no images.",
                run=run.number,
            )
        )
    if run.state == states.SUCCEEDED or run.state in _ENDING:
        raise NotMovable(
            Sentence("jobs.move_ends", "Run {run} is over, or is about to end.", run=run.number)
        )
    if run.cancel_requested_at is not None and run.state not in states.TERMINAL:
        raise NotMovable(
            Sentence("jobs.move_cancelled", "Run {run} is being cancelled.", run=run.number)
        )


def _best_cluster(run: Run, user: User, image: str, accelerator: str) -> str:
    """Return the best registered cluster for a run. Raises InvalidRun if none takes it."""
    question = question_of(run)
    demand = replace(question.demand, accelerator=accelerator)
    decision = decide(run.project, user, replace(question, demand=demand, image=image))
    own = {place.name for place in decision.places if not place.is_registered}
    best = next((name for name in decision.sites if name not in own), None)
    if best is None:
        refusal = Sentence("jobs.move_nowhere", "No registered cluster takes the run now.")
        raise InvalidRun(errors={"cluster": [refusal]})
    return best


def _wrong_target(run: Run, cluster: str) -> Sentence | None:
    if run.cluster is not None and run.cluster.name == cluster:
        return Sentence(
            "jobs.move_same_cluster", "The run is in {cluster} already.", cluster=cluster
        )
    if cluster in ("", LOCAL):
        return Sentence(
            "jobs.move_to_own_machines",
            "A run moves between registered clusters. For Atom's own machines, start a copy.",
        )
    return None


def _go_on(run: Run) -> None:
    """Save the choice and begin the end of what holds the run in its old cluster."""
    if run.state in states.TERMINAL:
        finish_move(run)
        enqueue_run(run)
        return
    if run.state in states.WAITING:
        end_placement(run)
        finish_move(run)
    else:
        run.moving_since = run.moving_since or clock.now()
    run.save(update_fields=["cluster", "auto_request", "has_place", *MOVE_FIELDS, "updated_at"])
    announce(run)
    effects.wake()
