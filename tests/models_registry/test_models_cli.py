"""`atom model` and `atom token` against the real API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import ApiToken, Project
from atom.core.storage import objects
from atom.jobs.models import Artifact
from atom.models_registry.models import ModelVersion
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NotFoundError
from tests.factories.accounts import make_member, make_project
from tests.factories.models_registry import WEIGHTS, make_trained_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(live_server: Any) -> Any:
    """Run a command as a researcher of the project `vision`; returns its JSON."""
    researcher = make_member(make_project("vision"), "researcher")
    secret = create_token(researcher, "cli", ["admin"]).secret

    def run(*words: str) -> Any:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(cli, ["--json", *words], obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    return run


def test_a_new_model_is_registered_and_downloaded_as_people_write_it(
    run: Any, tmp_path: Path
) -> None:
    trained = make_trained_run(project=Project.objects.get(slug="vision"))
    for path in ("model", "model/weights.pt"):
        run("model", "register", "digits", str(trained.pk), "--path", path)
    assert ModelVersion.objects.count() == 2
    for version in ("2", "v2"):
        folder = tmp_path / version
        run("model", "download", "digits", version, str(folder))
        assert (folder / "weights.pt").read_bytes() == WEIGHTS
    with pytest.raises(NotFoundError, match="no alias"):
        run("model", "download", "digits", "v", str(tmp_path))
    with pytest.raises(ApiError) as refused:
        run("model", "register", "Not A Name", str(trained.pk))
    assert list(refused.value.errors) == ["name"]


def test_a_download_that_fails_leaves_no_part_of_a_file(run: Any, tmp_path: Path) -> None:
    trained = make_trained_run(project=Project.objects.get(slug="vision"))
    run("model", "register", "digits", str(trained.pk))
    objects().delete(Artifact.objects.get(path="model/weights.pt").key)
    with pytest.raises(httpx.HTTPStatusError):
        run("model", "download", "digits", "1", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["atom.json"]


def test_a_token_that_may_push_is_made_by_command(run: Any) -> None:
    run("token", "create", "uploader", "--scope", "push")
    assert ApiToken.objects.get(name="uploader").scopes == ["push"]
