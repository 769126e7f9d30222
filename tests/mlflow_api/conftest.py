"""A project, people, and MLflow's API as HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from atom.accounts import actions
from atom.accounts.models import Project, User
from atom.jobs.models import Run
from tests.factories.accounts import make_member, make_project


@dataclass(frozen=True)
class Mlflow:
    """Requests as MLflow's client sends them."""

    project: str
    token: str

    def __call__(
        self, method: str, path: str, body: Any = None, /, root: str = "mlflow", **query: Any
    ) -> Any:
        """Return the answer to a request."""
        address = f"/api/mlflow/{self.project}/api/2.0/{root}/{path}"
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if method == "GET":
            return Client().get(address, query, headers=headers)
        return Client().generic(
            method, address, body if isinstance(body, str | bytes) else _json(body),
            content_type="application/json", headers=headers,
        )  # fmt: skip

    def run(self, **fields: Any) -> str:
        """Begin a run; return its id."""
        answer = self("POST", "runs/create", fields)
        assert answer.status_code == 200, answer.content
        return str(answer.json()["run"]["info"]["run_id"])

    def refused(self, *args: Any, **query: Any) -> tuple[int, str]:
        """Return status and error code of a request that is refused."""
        answer = self(*args, **query)
        return answer.status_code, str(answer.json().get("error_code"))


def _json(body: Any) -> str:
    return json.dumps({} if body is None else body)


def asks(user: User, project: str, *scopes: str, **fields: Any) -> Mlflow:
    """Return requests with a new token of the user's."""
    return Mlflow(project, actions.create_token(user, "t", list(scopes), **fields).secret)


@pytest.fixture
def project(db: None) -> Project:
    return make_project("vision")


@pytest.fixture
def ann(project: Project) -> User:
    return make_member(project, "researcher", "ann")


@pytest.fixture
def mlflow(ann: User) -> Mlflow:
    """As a researcher of the project."""
    return asks(ann, "vision", "write")


def run_of(run_id: str) -> Run:
    """Return the run of MLflow's id."""
    return Run.objects.get(pk=run_id)
