"""Base classes of all endpoints: authentication, project and errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.utils.functional import cached_property
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.authentication import TokenAuthentication, bearer_of
from atom.accounts.errors import BadToken
from atom.accounts.models import Project, User
from atom.core.errors import NotFound
from atom.core.foreign_json import read_json
from atom.jobs.attempts.actions import tracking_access
from atom.jobs.models import Attempt, Run
from atom.jobs.models.experiments import DEFAULT_EXPERIMENT, Experiment
from atom.jobs.tracking.actions import logged_runs
from atom.jobs.tracking.actions.logged_runs import LoggedRun
from atom.mlflow_api.actions.runs import Batch, log_batch
from atom.mlflow_api.engines import fields
from atom.mlflow_api.engines.ids import DEFAULT_EXPERIMENT_ID, uuid_of, uuid_of_model
from atom.mlflow_api.engines.messages import Message
from atom.mlflow_api.errors import (
    BadParameter,
    BatchTooLarge,
    NotPermitted,
    ResourceMissing,
    as_answer,
)
from atom.mlflow_api.models import LoggedModel

Row = TypeVar("Row", bound=Model)

NO_USER = "The person who started this run has no account any more."


class CommandUser:
    """The command of a run as a user for the permission classes; it has no account."""

    is_authenticated = True
    pk = None


class CommandAuthentication(BaseAuthentication):
    """Authenticates the command of a run of Atom's; `request.auth` is its Attempt."""

    def authenticate(self, request: Request) -> tuple[CommandUser, Attempt] | None:
        """Return the attempt of the token; None for a token of another kind. Raises BadToken."""
        text = bearer_of(request) or ""
        if not text.startswith(tracking_access.PREFIX):
            return None
        attempt = tracking_access.find_by_token(text)
        if attempt is None:
            raise BadToken
        return CommandUser(), attempt


class MlflowView(ProjectScopedView, APIView):
    """Base of the endpoints below `/api/mlflow/<project>/`.

    `for_commands` are the methods that the command of a run may call, for its own run only.
    """

    schema = None
    authentication_classes = (CommandAuthentication, TokenAuthentication)
    for_commands: ClassVar[frozenset[str]] = frozenset()
    # The address below `mlflow/`, by which the types of the fields are known; set by the URLs.
    route: str = ""
    max_bytes: ClassVar[int] = 32 << 20

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what is too large before it is parsed, and wrong fields before it acts."""
        size_bytes = len(request._request.body)
        if size_bytes > self.max_bytes:
            raise BatchTooLarge(
                f"Batched logging API requests must be at most {self.max_bytes} bytes, "
                f"got a request of size {size_bytes}."
            )
        super().initial(request, *args, **kwargs)
        if self.endpoint in fields.FIELDS:
            self.message.check(self.endpoint)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer in MLflow's form."""
        found = as_answer(exc)
        if found is None:
            return super().handle_exception(exc)
        status, body = found
        self.headers = {}
        return Response(body, status=status)

    @property
    def command(self) -> Attempt | None:
        """Return the attempt whose command asks, if one does."""
        return self.request.auth if isinstance(self.request.auth, Attempt) else None

    @cached_property
    def project(self) -> Project:
        """Return the project of the path, for which the request is authorized."""
        if self.command is None:
            return super().project
        run = self.command.run
        if run.project.slug != self.kwargs["project"]:
            raise NotFound
        if self.request.method not in self.for_commands:
            raise NotPermitted(
                "The token of a run logs to that run only; it cannot do this. "
                "Use an API token of your own."
            )
        return run.project

    @property
    def user(self) -> User:
        """Return the person of the request: for a run's command, the starter of the run."""
        if self.command is None:
            return user_of(self.request)
        if self.command.run.created_by is None:
            raise NotPermitted(NO_USER)
        return self.command.run.created_by

    @property
    def endpoint(self) -> str:
        """Return the row of the table of fields that the request has."""
        return f"{self.request.method} {self.route}"

    @cached_property
    def message(self) -> Message:
        """Return the request's fields: the body's, or those of the query."""
        if self.request.method != "GET":
            return Message(self.request.data or {})
        query, lists = self.request.query_params, fields.lists_of(self.endpoint)
        return Message({key: query.getlist(key) if key in lists else query[key] for key in query})

    def run_named(self, text: str, *, active: bool = False) -> Run:
        """Return a run of the project.

        Raises ResourceMissing, BadParameter for a deleted one.
        """
        runs = Run.objects.filter(project=self.project)
        related = runs.select_related("project", "experiment", "created_by")
        found = _first_with_key(related, self._id_of_run(text))
        if found is None:
            raise _no_run(text)
        if active and found.archived_at is not None:
            raise _deleted_run(text)
        return found

    def run_of_message(self, *, active: bool = False) -> Run:
        """Return the run that the message names, under its present or its old field."""
        return self.run_named(self._run_name(), active=active)

    def run_to_log_to(self) -> LoggedRun:
        """Return little more than the ids of the run that the message names.

        Raises ResourceMissing, BadParameter for a deleted one.
        """
        text = self._run_name()
        pk = self._id_of_run(text)
        found = None if pk is None else logged_runs.find(self.project.pk, pk)
        if found is None:
            raise _no_run(text)
        if found.is_archived:
            raise _deleted_run(text)
        return found

    def log(self, run: LoggedRun, batch: Batch) -> None:
        """Store the logged values of a run. Raises NotPermitted, BadParameter."""
        log_batch(run, batch, is_its_command=self.command is not None)

    def _run_name(self) -> str:
        name = "run_id" if self.message.has("run_id") else "run_uuid"
        return self.message.text(name, "") or self.message.text("run_id")

    def _id_of_run(self, text: str) -> UUID | None:
        """Return the id that a text spells, None for a run that is not the command's own."""
        pk = uuid_of(text)
        return pk if self.command is None or pk == self.command.run_id else None

    def logged_model(self, text: str, *, deleted: bool = False) -> LoggedModel:
        """Return a logged model of the project, perhaps a deleted one. Raises ResourceMissing."""
        pk = uuid_of_model(text)
        models = LoggedModel.objects.filter(run__project=self.project)
        if not deleted:
            models = models.filter(archived_at=None)
        if self.command is not None:
            models = models.filter(run=self.command.run_id)
        found = _first_with_key(models.select_related("run__experiment", "run__project"), pk)
        if found is None:
            raise ResourceMissing(f"Logged model with ID '{text[:100]}' not found.")
        return found

    def experiment_named(self, text: str) -> Experiment:
        """Return an experiment; the default one may have no row. Raises ResourceMissing."""
        if text == DEFAULT_EXPERIMENT_ID:
            return self.default_experiment
        pk = uuid_of(text)
        found = _first_with_key(Experiment.objects.filter(project=self.project), pk)
        if found is None:
            raise ResourceMissing(f"No Experiment with id={text[:100]} exists")
        return found

    @property
    def default_experiment(self) -> Experiment:
        """Return the default experiment, perhaps one that is in no table."""
        found = Experiment.objects.filter(project=self.project, name=DEFAULT_EXPERIMENT).first()
        if found is not None:
            return found
        made = self.project.created_at
        return Experiment(
            project=self.project, name=DEFAULT_EXPERIMENT, created_at=made, updated_at=made
        )


def _no_run(text: str) -> ResourceMissing:
    return ResourceMissing(f"Run with id={text[:100]} not found")


def _deleted_run(text: str) -> BadParameter:
    return BadParameter(f"The run {text} must be in the 'active' state. Current state is deleted.")


def _first_with_key(rows: QuerySet[Row], pk: UUID | None) -> Row | None:
    return None if pk is None else rows.filter(pk=pk).first()


def check_active(experiment: Experiment) -> None:
    """Raise BadParameter for a deleted experiment."""
    if experiment.archived_at is not None:
        raise BadParameter(
            f"The experiment {experiment.pk.hex} must be in the 'active' state. "
            "Current state is deleted."
        )


def own_row(experiment: Experiment) -> Experiment | None:
    """Return what a run's column holds: nothing for the default experiment."""
    return None if experiment.name == DEFAULT_EXPERIMENT else experiment


def page(rows: QuerySet[Any] | Sequence[Any], token: str, limit: int) -> tuple[list[Any], str]:
    """Return a page and the token of the next; nothing where there is none."""
    start = _offset(token)
    found = list(rows[start : start + limit + 1])
    following = encode_offset(start + limit) if len(found) > limit else ""
    return found[:limit], following


def encode_offset(offset: int) -> str:
    """Return the token of a page, as opaque as MLflow's."""
    return base64.urlsafe_b64encode(json.dumps({"offset": offset}).encode()).decode()


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        offset = read_json(base64.urlsafe_b64decode(token.encode()))["offset"]
        if isinstance(offset, bool) or not 0 <= offset < 1 << 40:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise BadParameter(f"Invalid page token, decoded value={token[:200]}") from None
    return int(offset)


def uuids_of_experiments(texts: Sequence[str]) -> tuple[list[UUID], bool]:
    """Return the ids, and whether the default experiment is among them."""
    found = [pk for text in texts if (pk := uuid_of(text)) is not None]
    return found, DEFAULT_EXPERIMENT_ID in texts
