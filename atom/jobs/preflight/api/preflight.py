"""`projects/<project>/runs/preflight/`: does the chosen data fit the workflow?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.jobs.failures.engines.remedies import Remedy
from atom.jobs.json_values import names
from atom.jobs.preflight.actions.preflight import DatasetPreflight, preflight
from atom.jobs.preflight.engines.preflight import CheckCode
from atom.jobs.runs.actions.plan import plan_run
from atom.jobs.runs.api.request_serializers import RunRequestSerializer
from atom.jobs.runs.api.views import parse_request


class CheckSerializer(serializers.Serializer[Any]):
    """One finding about a dataset."""

    level = serializers.ChoiceField(choices=["error", "warning", "ok"])
    code = serializers.ChoiceField(choices=names(CheckCode))
    sentence = serializers.CharField()
    params = serializers.DictField()
    remedies = serializers.ListField(child=serializers.ChoiceField(choices=names(Remedy)))


class DatasetPreflightSerializer(serializers.Serializer[Any]):
    """One dataset of a planned run, with what it would read of it."""

    alias = serializers.CharField()
    reference = serializers.CharField()
    dataset = serializers.CharField()
    ref = serializers.CharField()
    branch = serializers.CharField(help_text="Where a remedy makes the next version.")
    exact = serializers.BooleanField(help_text="Labels and splits were counted.")
    files = serializers.IntegerField(help_text="That the run would read.")
    labelled = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.IntegerField())
    splits = serializers.DictField(
        child=serializers.IntegerField(), help_text="Files of each split of the version."
    )
    unsplit = serializers.IntegerField(help_text="Files in no split; these belong to train.")
    class_folders = serializers.ListField(
        child=serializers.CharField(), help_text="Folders that look like classes."
    )
    checks = CheckSerializer(many=True)


class PreflightSerializer(serializers.Serializer[Any]):
    """Whether a run like this would have what its workflow needs."""

    ok = serializers.BooleanField(help_text="No finding is an error.")
    datasets = DatasetPreflightSerializer(many=True)
    errors = serializers.DictField(  # type: ignore[assignment]  # the API's name for it
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Errors of the request itself, by field.",
    )


class RunPreflightView(ProjectScopedView, APIView):
    """Looking at the data of a run before it is started."""

    @extend_schema(
        operation_id="runs_preflight",
        request=RunRequestSerializer,
        responses=PreflightSerializer,
    )
    def post(self, request: Request, project: str) -> Response:
        """Return the data that the run would read and the problems in it; starts nothing."""
        plan = plan_run(self.project, user_of(request), parse_request(request))
        datasets = preflight(plan)
        is_ok = not any(one.level == "error" for each in datasets for one in each.checks)
        shown = {"ok": is_ok, "datasets": list(map(_shown, datasets)), "errors": plan.errors}
        return Response(PreflightSerializer(shown).data)


def _shown(one: DatasetPreflight) -> dict[str, Any]:
    counts = one.counts
    return {
        "alias": one.alias,
        "reference": one.reference,
        "dataset": one.dataset,
        "ref": one.ref,
        "branch": one.branch,
        "exact": counts.is_exact,
        "files": counts.files,
        "labelled": counts.labelled,
        "labels": counts.labels,
        "splits": counts.splits,
        "unsplit": counts.unsplit,
        "class_folders": list(counts.class_folders),
        "checks": [asdict(check) for check in one.checks],
    }
