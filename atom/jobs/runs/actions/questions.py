"""A run as far as its place asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import prefetch_related_objects

from atom.clusters.actions import LOCAL
from atom.datasets.models import Version
from atom.jobs.models import Run
from atom.jobs.runs.engines.start_times import DEFAULT_PERCENT
from atom.jobs.scheduling.engines.placement import Demand

# A question reads these parts of a run, beside its workflow and its runtime.
INPUTS = "inputs__version__dataset"


@dataclass(frozen=True)
class Question:
    """A run as far as its place asks; `demand` is that of each of the `nodes`."""

    demand: Demand
    nodes: int = 1
    image: str = ""
    requirements: str = ""
    inputs: Mapping[str, Version] = field(default_factory=dict)
    workflow: str = ""
    command: Sequence[str] = ()
    priority: int = 0
    # The percentage for which a start at a share is told.
    start_percent: int = DEFAULT_PERCENT
    # The place whose queue counts the run already; "" for a run that does not exist yet.
    waits_in: str = ""


def question_of(run: Run) -> Question:
    """Return what a queued run asks of its place."""
    prefetch_related_objects([run], INPUTS)
    request = run.auto_request or {}
    kind = request.get("accelerator", run.accelerator)
    requirements = run.runtime.requirements if run.runtime else ""
    return Question(
        demand=Demand(run.cpus, run.memory_bytes, run.gpus, kind),
        nodes=run.nodes,
        image=run.image,
        requirements=request.get("requirements", requirements),
        inputs={part.alias: part.version for part in run.inputs.all()},
        workflow=run.workflow.slug if run.workflow else "",
        command=() if run.workflow else tuple(run.command),
        priority=run.priority,
        waits_in=place_name(run) or "",
    )


def place_name(run: Run) -> str | None:
    """Return the name of the place that a run has or waits for, None if no place takes it."""
    if run.cluster is not None:
        return run.cluster.name
    return LOCAL if run.has_place else None
