"""A project with a researcher, and clients that push for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom_sdk.client import Client
from tests.datasets.pushing import Pusher, class_files, new_pusher


@pytest.fixture
def pusher(transactional_db: None) -> Pusher:
    """A dataset `digits` without versions. Tasks run in place, when a transaction commits."""
    return new_pusher()


@pytest.fixture
def client(
    live_server: LiveServer, pusher: Pusher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """The SDK's client, as a researcher of the project."""
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    secret = create_token(pusher.user, "tests", ["write"]).secret
    with Client(live_server.url, secret, pusher.project.slug) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three classes."""
    for path, data in class_files().items():
        target = tmp_path / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return tmp_path / "files"
