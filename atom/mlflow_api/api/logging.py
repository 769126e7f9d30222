"""Endpoints for logging: batches, metrics, their histories, inputs and outputs."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import IO, Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.bodies import JSONParser
from atom.core.errors import MalformedBody
from atom.jobs.metrics.actions import series
from atom.jobs.metrics.actions.curve_cache import Window
from atom.jobs.metrics.engines.points import Points
from atom.jobs.models import Run
from atom.jobs.tracking.actions.logged_runs import LoggedRun
from atom.mlflow_api.actions import logged_models, runs
from atom.mlflow_api.actions.runs import Batch
from atom.mlflow_api.api.base import MlflowView, page
from atom.mlflow_api.api.values import (
    MAX_BATCH_BYTES,
    MAX_KEY,
    MAX_METRICS,
    MAX_PAIRS,
    params_of,
    point_of,
    points_of,
    tags_of,
)
from atom.mlflow_api.engines.fields import SEE_DOCS
from atom.mlflow_api.engines.ids import uuid_of
from atom.mlflow_api.engines.messages import Message, check_batch_limit, number_as_json
from atom.mlflow_api.errors import BadParameter
from atom.mlflow_api.models import DatasetInput
from atom.mlflow_api.rendering import metric

POST, GET = frozenset({"POST"}), frozenset({"GET"})
MAX_HISTORY = 25_000
MAX_RUNS = 100
MAX_INTERVAL = 2500
MAX_DATASETS = 100
_TEXTS = {"source": 65_535, "schema": 1_048_575, "profile": 16_777_215}


class LogMetric(MlflowView):
    """`runs/log-metric`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Log one point."""
        run = self.run_to_log_to()
        self.log(run, Batch([point_of(self.message)]))
        note_metrics_of_models(self, run, [self.message])
        return Response({})


class BatchParser(JSONParser):
    """Reads batches, of which there are many a second, without looking at each value twice.

    Each is looked at by the view, which stores no nested ones; only an escape can be half of a
    character.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the parsed body. Raises MalformedBody."""
        body = stream.read()
        if b"\\u" in body:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise MalformedBody(str(error)) from error


class LogBatch(MlflowView):
    """`runs/log-batch`: up to 1,000 metrics, 100 params and 100 tags in 1 MB."""

    for_commands = POST
    parser_classes = (BatchParser,)
    max_bytes = MAX_BATCH_BYTES

    def post(self, request: Request, project: str) -> Response:
        """Log all of a batch or none of it."""
        run = self.run_to_log_to()
        batch = Batch(points_of(self.message), params_of(self.message), tags_of(self.message))
        check_batch_limit(
            "metrics, params, and tags",
            len(batch.points) + len(batch.parameters) + len(batch.labels),
            MAX_METRICS,
        )
        self.log(run, batch)
        if "model_id" in set().union(*self.message.values("metrics")):
            note_metrics_of_models(self, run, self.message.messages("metrics"))
        return Response({})


def note_metrics_of_models(view: MlflowView, run: LoggedRun, messages: list[Message]) -> None:
    """Also store the metrics that name a logged model."""
    said: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in messages:
        if one.has("model_id") and (name := one.text("model_id", "")):
            said[name].append(_of_model(run, one))
    for name, rows in said.items():
        logged_models.note_model_metrics(view.logged_model(name), rows)


def _of_model(run: LoggedRun, one: Message) -> dict[str, Any]:
    key, step, ts_ms, value = point_of(one)
    return {
        "key": key,
        "value": number_as_json(value),
        "timestamp": ts_ms,
        "step": step,
        "dataset_name": one.text("dataset_name", "") or None,
        "dataset_digest": one.text("dataset_digest", "") or None,
        "run_id": run.pk.hex,
    }


class GetHistory(MlflowView):
    """`metrics/get-history`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return the points of a metric, in the order in which they came."""
        run, said = self.run_of_message(), self.message
        key = said.text("metric_key", most=MAX_KEY)
        limit = said.limit("max_results", MAX_HISTORY, MAX_HISTORY)
        points = series.points_of(run, key)
        places, following = page(range(len(points)), said.text("page_token", ""), limit)
        shown = points[slice(places[0], places[-1] + 1)] if places else points[slice(0, 0)]
        answer: dict[str, Any] = {"metrics": _rows(key, shown)}
        return Response({**answer, "next_page_token": following} if following else answer)


def _rows(key: str, points: Points) -> list[dict[str, Any]]:
    columns = points.values.tolist(), points.ts_ms.tolist(), points.steps.tolist()
    return [metric(key, *one) for one in zip(*columns, strict=True)]


class GetHistoryBulkInterval(MlflowView):
    """`metrics/get-history-bulk-interval`."""

    def get(self, request: Request, project: str) -> Response:
        """Return a metric of several runs, of each at most so many points, the peaks among them."""
        said = self.message
        names = said.texts("run_ids")
        if len(names) > MAX_RUNS:
            raise BadParameter(
                f"GetMetricHistoryBulkInterval request must specify at most {MAX_RUNS} run_ids. "
                f"Received {len(names)} run_ids. {SEE_DOCS}"
            )
        key = said.text("metric_key", most=MAX_KEY)
        limit = said.whole("max_results", MAX_INTERVAL)
        if not 1 <= limit <= MAX_INTERVAL:
            raise BadParameter(f"max_results must be between 1 and {MAX_INTERVAL}. {SEE_DOCS}")
        window = Window(
            points=limit,
            from_step=said.whole("start_step") if said.has("start_step") else None,
            to_step=said.whole("end_step") if said.has("end_step") else None,
        )
        if (window.from_step is None) != (window.to_step is None):
            raise BadParameter(
                "If either start step or end step are specified, both must be specified."
            )
        if window.from_step is not None and window.from_step > (window.to_step or 0):
            raise BadParameter(
                "end_step must be greater than start_step. "
                f"Found start_step={window.from_step} and end_step={window.to_step}."
            )
        rows = []
        for run in self._runs(names):
            for curve in series.curves(run, [key], window):
                rows += [{**row, "run_id": run.pk.hex} for row in _rows(key, curve.points)]
        return Response({"metrics": rows})

    def _runs(self, names: list[str]) -> list[Run]:
        ids: list[UUID] = [pk for name in names if (pk := uuid_of(name)) is not None]
        found = {run.pk: run for run in Run.objects.filter(project=self.project, pk__in=ids)}
        return [found[pk] for pk in dict.fromkeys(ids) if pk in found]


class LogInputs(MlflowView):
    """`runs/log-inputs`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Note what the run read."""
        run, said = self.run_of_message(active=True), self.message
        datasets = [_dataset(run, one) for one in said.messages("datasets", most=MAX_DATASETS)]
        used = [
            self.logged_model(one.text("model_id"))
            for one in said.messages("models", most=MAX_DATASETS)
        ]
        logged_models.note_inputs(run, datasets, used)
        return Response({})


def _dataset(run: Run, said: Message) -> DatasetInput:
    one = said.message("dataset")
    return DatasetInput(
        run=run,
        name=one.text("name", most=500),
        digest=one.text("digest", most=36),
        source_type=one.text("source_type", "", most=36),
        **{name: one.text(name, "", most=most) for name, most in _TEXTS.items()},
        labels=tags_of(said, most=MAX_PAIRS),
    )


class LogOutputs(MlflowView):
    """`runs/outputs`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Note the models that the run has made."""
        run = self.run_of_message(active=True)
        outputs = [
            (self.logged_model(one.text("model_id")), one.whole("step", 0))
            for one in self.message.messages("models", most=MAX_DATASETS)
        ]
        logged_models.note_outputs(run, outputs)
        return Response({})


class LogModel(MlflowView):
    """`runs/log-model`: how clients before 3.0 say that a folder of the run is a model."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Note the model as a label, as MLflow does."""
        run = self.run_of_message(active=True)
        runs.note_model(run, self.message.text("model_json", most=1 << 20))
        return Response({})
