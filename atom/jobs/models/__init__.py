"""Tables of runs: together, since their foreign keys form circles."""

from atom.jobs.models.code import CodeChanges, CodeFetch, GitHost
from atom.jobs.models.comments import RunComment
from atom.jobs.models.data_gates import DataGate, DataGatePlan
from atom.jobs.models.experiments import Experiment
from atom.jobs.models.placements import (
    AUTO_DECIDED,
    DECIDERS,
    PERSON_DECIDED,
    ClusterJob,
    EnvironmentBuild,
    Placement,
    PlacementDecision,
    UnknownJob,
)
from atom.jobs.models.records import LogChunk, LogStream, MetricChunk, MetricSeries
from atom.jobs.models.retention import RunKeeping, RunPolicy
from atom.jobs.models.runs import (
    Artifact,
    Attempt,
    CodeSnapshot,
    Rank,
    Run,
    RunEvent,
    RunFile,
    RunInput,
    RunQuerySet,
    Runtime,
    Workflow,
    attempts_to_show,
    decisions_to_show,
    inputs_to_show,
    ranks_to_show,
)
from atom.jobs.models.secrets import ProjectSecret
from atom.jobs.models.shares import RunShare

__all__ = [
    "AUTO_DECIDED",
    "DECIDERS",
    "PERSON_DECIDED",
    "Artifact",
    "Attempt",
    "ClusterJob",
    "CodeChanges",
    "CodeFetch",
    "CodeSnapshot",
    "DataGate",
    "DataGatePlan",
    "EnvironmentBuild",
    "Experiment",
    "GitHost",
    "LogChunk",
    "LogStream",
    "MetricChunk",
    "MetricSeries",
    "Placement",
    "PlacementDecision",
    "ProjectSecret",
    "Rank",
    "Run",
    "RunComment",
    "RunEvent",
    "RunFile",
    "RunInput",
    "RunKeeping",
    "RunPolicy",
    "RunQuerySet",
    "RunShare",
    "Runtime",
    "UnknownJob",
    "Workflow",
    "attempts_to_show",
    "decisions_to_show",
    "inputs_to_show",
    "ranks_to_show",
]
