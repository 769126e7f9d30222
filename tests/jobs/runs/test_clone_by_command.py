"""`atom clone` against the real API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run


@pytest.mark.django_db(transaction=True)
def test_a_clone_takes_other_values_of_parameters(live_server: Any, project: Project) -> None:
    maker = make_member(project, "researcher")
    run = make_run(project, maker, parameters={"lr": 0.1, "opt": "adam"})
    context = Context()
    with Client(live_server.url, create_token(maker, "cli", ["write"]).secret, "vision") as client:
        context._client = client
        words = ["--json", "clone", str(run.number), "-p", "lr=0.01"]
        done = CliRunner().invoke(cli, words, obj=context, standalone_mode=False)
    assert done.exception is None
    assert json.loads(done.stdout)["parameters"] == {"lr": 0.01, "opt": "adam"}
