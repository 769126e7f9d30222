"""A project with a researcher, and clients that push for them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.datasets.commands import Atom, runner
from tests.datasets.forks import push_forked
from tests.datasets.gateways import Gateway
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, new_pusher


@pytest.fixture(autouse=True)
def _connections_are_kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server keep a connection to the database as long as its client keeps its own.

    To open one costs more than most requests.
    """
    if "live_server" in request.fixturenames:
        monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", None)


@pytest.fixture
def pusher(committing_db: None, request: pytest.FixtureRequest) -> Pusher:
    """A dataset `digits` without versions. Tasks run in place, when a transaction commits.

    With the marker `pushed` it has version 1, as `atom data push` makes it of `folder`; the
    marker's arguments are those of PushOptions.
    """
    marker = request.node.get_closest_marker("pushed")
    if marker is None:
        return new_pusher()
    url = request.getfixturevalue("live_server").url
    options = PushOptions(**marker.kwargs)
    return made_once(lambda: push_folder(url, options), repr(options))


def push_folder(url: str, options: PushOptions) -> Pusher:
    """Push three classes as the SDK does, from a machine that is then gone."""
    pusher = new_pusher()
    with TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATOM_CACHE", str(Path(scratch) / "cache"))
        write_classes(Path(scratch) / "files")
        with client_of(url, pusher) as client:
            client.datasets.push(Path(scratch) / "files", pusher.name, options)
    return pusher


def client_of(url: str, pusher: Pusher) -> Client:
    """Return a client that writes as the pusher's person."""
    secret = create_token(pusher.user, "tests", ["write"]).secret
    return Client(url, secret, pusher.project.slug)


@pytest.fixture
def gateway(live_server: LiveServer) -> Iterator[Gateway]:
    """The gateway beside the REST API, at an address that the client of such a test uses."""
    gateway = Gateway(live_server.url)
    with gateway.served():
        yield gateway


@pytest.fixture
def client(
    live_server: LiveServer,
    pusher: Pusher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Client]:
    """The SDK's client, as a researcher of the project; with `gateway`, its server has one."""
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    has_gateway = "gateway" in request.fixturenames
    url = request.getfixturevalue("gateway").url if has_gateway else live_server.url
    with client_of(url, pusher) as client:
        yield client


@pytest.fixture
def atom(
    live_server: LiveServer,
    pusher: Pusher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Atom:
    """Run `atom …` as a researcher of the project; gives the exit code and what was printed."""
    environment = {
        "ATOM_URL": live_server.url,
        "ATOM_TOKEN": create_token(pusher.user, "tests", ["write"]).secret,
        "ATOM_PROJECT": pusher.project.slug,
        "ATOM_CACHE": str(tmp_path / "cache"),
    }
    return runner(monkeypatch, capsys, environment)


@pytest.fixture
def forked(committing_db: None) -> Pusher:
    """Version 1 with labels and a split, and a branch `fix` that begins there."""
    return made_once(push_forked)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three classes."""
    return write_classes(tmp_path / "files")


def write_classes(folder: Path) -> Path:
    """Write three classes into a new folder and return it."""
    for path, data in class_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder
