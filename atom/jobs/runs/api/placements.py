"""`projects/<project>/placements/preview/`: where Atom would place a run, and for how much."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import AtomError
from atom.core.names import TextField
from atom.datasets.models import Version
from atom.jobs.errors import InvalidRun
from atom.jobs.runs.actions.decide import decide
from atom.jobs.runs.actions.decision_rows import decision_row
from atom.jobs.runs.actions.plan_data import resolve_dataset
from atom.jobs.runs.actions.questions import Question
from atom.jobs.runs.api.cluster_choices import WantedSerializer
from atom.jobs.runs.api.placement_serializers import PlacementDecisionSerializer
from atom.jobs.runs.engines.images import MAX_CHARACTERS
from atom.jobs.runs.engines.refs import BadReferenceError
from atom.jobs.runs.engines.start_times import DEFAULT_PERCENT
from atom.jobs.scheduling.engines.placement import Demand
from atom.jobs.start_ways import LEAST_PERCENT, MOST_PERCENT
from atom.jobs.workflows.actions import workflows
from atom_sdk.sentences import Sentence

_MAX_INPUTS = 100


class PlacementQuestionSerializer(WantedSerializer):
    """A run as far as its place asks."""

    image = TextField(
        max_length=MAX_CHARACTERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="Atom's own machines start none.",
    )
    inputs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="References such as digits@v1, by alias.",
    )
    workflow = TextField(
        max_length=63,
        required=False,
        allow_blank=True,
        default="",
        help_text="Earlier runs of it give the run time.",
    )
    command = serializers.ListField(
        child=TextField(max_length=100_000, trim_whitespace=False, allow_blank=True),
        required=False,
        default=list,
        max_length=1000,
        help_text="Without a workflow: earlier runs of the same command give the run time.",
    )
    requirements = TextField(
        max_length=100_000,
        required=False,
        allow_blank=True,
        default="",
        trim_whitespace=False,
        help_text="Those of the command; a workflow brings its own.",
    )
    priority = serializers.IntegerField(
        min_value=-1_000_000,
        max_value=1_000_000,
        required=False,
        default=0,
        help_text="It decides the value of an hour.",
    )

    start_percent = serializers.IntegerField(
        min_value=LEAST_PERCENT,
        max_value=MOST_PERCENT,
        required=False,
        default=DEFAULT_PERCENT,
        help_text="The percentage of the data for which a start at a share is told.",
    )

    def validate_inputs(self, inputs: dict[str, str]) -> dict[str, str]:
        """Refuse more inputs than a decision reads."""
        if len(inputs) > _MAX_INPUTS:
            raise serializers.ValidationError(
                Sentence("jobs.too_many_inputs", "Name at most {most} inputs.", most=_MAX_INPUTS)
            )
        return inputs


class PlacementPreviewView(ProjectScopedView, APIView):
    """`projects/<project>/placements/preview/`."""

    @extend_schema(
        operation_id="placements_preview",
        request=PlacementQuestionSerializer,
        responses=PlacementDecisionSerializer,
    )
    def post(self, request: Request, project: str) -> Response:
        """Return where Atom would place a run, with the cost of each place; starts nothing."""
        body = PlacementQuestionSerializer(data=request.data)
        check(body)
        data = dict(body.validated_data)
        resources = ("cpus", "memory_bytes", "gpus", "accelerator")
        demand = Demand(**{name: data.pop(name) for name in resources})
        data["inputs"] = self._versions(data["inputs"], user_of(request))
        if workflow := workflows.find(self.project, data["workflow"]):
            data["requirements"] = workflow.definition["requirements"]
        decision = decide(self.project, user_of(request), Question(demand, **data))
        return Response(PlacementDecisionSerializer(decision_row(decision)).data)

    def _versions(self, inputs: dict[str, str], user: Any) -> dict[str, Version]:
        """Return the version of each reference. Raises ValidationError by alias."""
        versions: dict[str, Version] = {}
        wrong: dict[str, list[str]] = {}
        for alias, text in inputs.items():
            try:
                versions[alias] = resolve_dataset(self.project, user, text)
            except (BadReferenceError, AtomError) as error:
                wrong[f"inputs.{alias}"] = [str(error)]
        if wrong:
            raise InvalidRun(errors=wrong)
        return versions
