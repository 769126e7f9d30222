"""Runs: begin, describe, end, find."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from atom.jobs.models import Run
from atom.jobs.tracking.actions.tracked import set_archived
from atom.mlflow_api.actions import runs
from atom.mlflow_api.actions.runs import MAX_NAME, UNKNOWN_USER, USER_LABEL, Batch
from atom.mlflow_api.api.base import MlflowView, check_active, own_row, page, uuids_of_experiments
from atom.mlflow_api.api.values import MAX_KEY, MAX_PARAM, MAX_TAG, tags_of
from atom.mlflow_api.engines.fields import invalid
from atom.mlflow_api.rendering import new_run_message, run_info, run_messages
from atom.mlflow_api.search import (
    RUN_ORDER,
    filtered,
    of_experiments,
    ordered,
    run_field,
    time_of_ms,
)
from atom.mlflow_api.states import STATE_OF

POST, GET = frozenset({"POST"}), frozenset({"GET"})
MAX_PAGE = 5000


class CreateRun(MlflowView):
    """`runs/create`."""

    def post(self, request: Request, project: str) -> Response:
        """Begin a tracked run."""
        said = self.message
        experiment = self.experiment_named(said.text("experiment_id", "0"))
        check_active(experiment)
        began = said.whole("start_time", 0)
        labels = tags_of(said)
        user_id = said.text("user_id", "", most=MAX_TAG)
        if user_id not in {"", UNKNOWN_USER}:
            labels.setdefault(USER_LABEL, user_id)
        made = runs.begin_run(
            self.project,
            self.user,
            own_row(experiment),
            said.text("run_name", ""),
            time_of_ms(began) if began else None,
            labels,
        )
        return Response({"run": new_run_message(made)})


class GetRun(MlflowView):
    """`runs/get`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return a run with what it logged."""
        return Response({"run": run_messages([self.run_of_message()])[0]})


class UpdateRun(MlflowView):
    """`runs/update`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Set the state and name that the program reports."""
        said, run = self.message, self.run_of_message(active=True)
        word = said.word("status", "")
        # Protobuf's JSON may name a value by its number.
        words = {**STATE_OF, **{str(at): STATE_OF[w] for at, w in enumerate(STATE_OF_ORDER, 1)}}
        if word and word not in words:
            raise invalid("status", word)
        ended = said.whole("end_time", 0)
        runs.update_run(
            run.pk,
            words[word] if word else None,
            time_of_ms(ended) if ended else None,
            said.text("run_name", "", most=MAX_NAME * 10),
        )
        return Response({"run_info": run_info(self.run_named(run.pk.hex))})


STATE_OF_ORDER = ("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")


class DeleteRun(MlflowView):
    """`runs/delete`."""

    def post(self, request: Request, project: str) -> Response:
        """Take a run out of the lists; it can be restored."""
        set_archived(self.run_of_message(), self.user, archived=True)
        return Response({})


class RestoreRun(MlflowView):
    """`runs/restore`."""

    def post(self, request: Request, project: str) -> Response:
        """Bring a run back into the lists."""
        set_archived(self.run_of_message(), self.user, archived=False)
        return Response({})


class LogParameter(MlflowView):
    """`runs/log-parameter`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Log a parameter, once."""
        run = self.run_to_log_to()
        key = self.message.text("key", most=MAX_KEY)
        value = self.message.text("value", "", most=MAX_PARAM)
        self.log(run, Batch(parameters={key: value}))
        return Response({})


class SetTag(MlflowView):
    """`runs/set-tag`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Set a tag."""
        run = self.run_to_log_to()
        key = self.message.text("key", most=MAX_KEY)
        self.log(run, Batch(labels={key: self.message.text("value", "", most=MAX_TAG)}))
        return Response({})


class DeleteTag(MlflowView):
    """`runs/delete-tag`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Take a tag away."""
        runs.remove_label(self.run_of_message(active=True), self.message.text("key", most=MAX_KEY))
        return Response({})


class SearchRuns(MlflowView):
    """`runs/search`."""

    reading_methods = frozenset({"GET", "POST"})

    def post(self, request: Request, project: str) -> Response:
        """Return a page of runs."""
        said = self.message
        limit = min(said.limit("max_results", 1000, 50_000), MAX_PAGE)
        ids, default = uuids_of_experiments(said.texts("experiment_ids"))
        rows: QuerySet[Run] = Run.objects.filter(
            of_experiments(ids, default=default), project=self.project
        )
        rows = filtered(
            _seen(rows, said.word("run_view_type", "ACTIVE_ONLY")),
            said.text("filter", "", most=10_000),
            run_field,
        )
        rows = ordered(rows, said.texts("order_by"), run_field, RUN_ORDER)
        rows = rows.select_related("experiment", "created_by")
        found, following = page(rows, said.text("page_token", ""), limit)
        answer: dict[str, Any] = {"runs": run_messages(found)}
        return Response({**answer, "next_page_token": following} if following else answer)


def _seen(rows: QuerySet[Run], view_type: str) -> QuerySet[Run]:
    views = {
        "ACTIVE_ONLY": Q(archived_at=None),
        "DELETED_ONLY": Q(archived_at__isnull=False),
        "ALL": Q(),
    }
    numbered = {str(at): view for at, view in enumerate(views.values(), 1)}
    if (view := {**views, **numbered}.get(view_type)) is None:
        raise invalid("run_view_type", view_type)
    return rows.filter(view)
