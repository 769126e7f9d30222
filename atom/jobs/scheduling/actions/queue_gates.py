"""Runs that wait for their data in a queue of Kueue: they have their Job, and keep their place.

The Job is made with a gate, which keeps the queue from admitting it. Once the data is there, or the
run is to stream, a worker takes the gate away. That is asked for again until the cluster confirms
it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models.functions import Now

from atom.clusters.models import Cluster
from atom.clusters.registration.engines.cluster_queues import holds_gates
from atom.core import clock
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import is_moving
from atom.jobs.executors import executor_in, executor_of
from atom.jobs.models import Attempt, DataGate, Placement, Run
from atom.jobs.scheduling.actions.data_gates import is_gate_open, open_gate
from atom.jobs.scheduling.actions.data_places import nodes_with_data
from atom_sdk.sentences import Sentence

_ASK_EVERY: Final = timedelta(seconds=10)


def hold_in_queue(placement: Placement, cluster: Cluster) -> None:
    """Let the queue of a new placement hold its Job back, if it has one that can."""
    if placement.queue and holds_gates(cluster.facts):
        placement.has_gate = True
        placement.save(update_fields=["has_gate", "updated_at"])


def may_submit(run: Run, attempt: Attempt) -> bool | None:
    """Return whether the attempt's Job may be asked for; None once it has failed over its data.

    The caller holds the run's lock.
    """
    is_open = is_gate_open(run, attempt)
    if is_open is False and attempt.placed_in is not None and attempt.placed_in.has_gate:
        return True
    return is_open


def follow_gate(run: Run, attempt: Attempt) -> bool:
    """Take a submitted attempt nearer to its admission; return whether its queue holds it back.

    The caller holds the run's lock. An attempt that has failed over its data is ended.
    """
    placement = attempt.placed_in
    if placement is None or not placement.has_gate or placement.ungated_at is not None:
        return False
    if attempt.state != states.SUBMITTED or run.cancel_requested_at is not None or is_moving(run):
        return False  # its Job goes on without a gate, or is deleted with it
    is_open = is_gate_open(run, attempt)
    if is_open is False:
        is_open = _opened_by_an_admission(run, attempt)
    if is_open and placement.job_uid:
        _ask(placement)
    return is_open is not None


def _opened_by_an_admission(run: Run, attempt: Attempt) -> bool:
    """Open the gate of an attempt whose pods start although its data is not there."""
    if executor_of(attempt).observe(attempt).is_suspended is not False:
        return False
    gate = DataGate.objects.get(attempt=attempt, opened_at=None)
    gate.attempt = attempt
    gate.notice = Sentence(
        "jobs.gate_admitted_early",
        "Its queue admitted the run before the data was there, as Kueue does before 0.19.",
    )
    open_gate(run, gate)
    return True


def _ask(placement: Placement) -> None:
    """Have the gate taken away, unless a worker was asked a moment ago."""
    now = clock.now()
    if placement.ungate_asked_at is not None and placement.ungate_asked_at > now - _ASK_EVERY:
        return
    placement.ungate_asked_at = now
    placement.save(update_fields=["ungate_asked_at", "updated_at"])
    effects.ungate(placement.pk)


def ungate(placement_id: UUID) -> None:
    """Let a Job through whose data is there; its pods prefer the nodes that have it. Repeatable."""
    held = Placement.objects.select_related("cluster", "run").exclude(job_uid="")
    placement = held.filter(pk=placement_id, has_gate=True, ungated_at=None, ended_at=None).first()
    if placement is None:
        return
    waits = DataGate.objects.filter(attempt__placed_in=placement, opened_at=None)
    if waits.exclude(attempt__state__in=states.TERMINAL).exists():
        return
    preferred = nodes_with_data(placement.run, placement.cluster)
    if executor_in(placement.cluster).ungate(placement, preferred):
        Placement.objects.filter(pk=placement.pk).update(ungated_at=Now())
        effects.wake()
