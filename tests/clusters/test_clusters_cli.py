"""`atom cluster` against the real API, and a cluster of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from atom.accounts.actions import create_token
from atom.accounts.models import User
from atom.clusters.models import Cluster
from atom.jobs.models import UnknownJob
from atom_sdk.cli.context import EXIT_FAILED, Context, exit_code_of
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NotFoundError
from tests.clusters.answers import Answers, node
from tests.clusters.api_server import TOKEN, ApiServer, api_server
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)

Run = Callable[..., Result]


@pytest.fixture
def answers() -> Answers:
    return Answers(nodes=[node("gpu-1", None, **{"nvidia.com/gpu": "8"}), node("cpu-1")])


@pytest.fixture
def server(answers: Answers, tmp_path: Path, settings: Any) -> Iterator[ApiServer]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with api_server(answers, tmp_path) as served:
        yield served


@pytest.fixture
def file(server: ApiServer, tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(server.kubeconfig())
    return str(path)


def running(live_server: Any, user: User) -> Run:
    secret = create_token(user, "cli", ["admin"]).secret

    def run(*words: str, typed: str | bytes | None = None) -> Result:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["cluster", *words], obj=context, input=typed, standalone_mode=False
            )
        assert TOKEN not in done.output
        if done.exception is not None:
            raise done.exception
        return done

    return run


@pytest.fixture
def run(live_server: Any) -> Run:
    """Run a command as an administrator of the installation; the kubeconfig is never printed."""
    make_project("vision")
    return running(live_server, User.objects.create_user("boss", is_superuser=True))


def test_show_names_unknown_jobs_and_what_deletes_them(run: Run, file: str) -> None:
    run("register", "west", "--kubeconfig", file)
    assert "Unknown Jobs" not in run("show", "west").stdout
    UnknownJob.objects.create(
        cluster=Cluster.objects.get(name="west"), namespace="jobs-v", name="atom-1", uid="u", pods=2
    )
    shown = run("show", "west").stdout
    assert "Unknown Jobs: 1. They belong to no run" in shown
    assert "kubectl delete job atom-1 --namespace jobs-v --cascade=background\n" in shown
    (row,) = json.loads(run("show", "west", "--json").stdout)["unknown_jobs"]
    assert (row["name"], row["pods"]) == ("atom-1", 2)


def test_a_cluster_is_tried_registered_drained_and_removed(
    run: Run, file: str, server: ApiServer
) -> None:
    tried = run("test", "--kubeconfig", "-", typed=server.kubeconfig())
    assert (tried.return_value, "no check failed" in tried.stdout) == (0, True)
    assert not Cluster.objects.filter(name="west").exists()

    made = run("register", "west", "--kubeconfig", file, "--project", "vision", "--json")
    row = json.loads(made.stdout)
    assert (row["state"], row["projects"], row["namespace"]) == ("ready", ["vision"], "jobs")
    shown = run("show", "west").stdout
    assert f"{server.url}, namespace jobs, for vision" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("gpu-1")] == [
        ["gpu-1", "yes", "15/15", "64.0/64.0", "8/8"]
    ]
    assert "west" in run("ls").stdout

    assert "takes no new runs" in run("drain", "west").stdout
    assert Cluster.objects.get(name="west").state == "draining"
    assert "west is ready" in run("resume", "west").stdout
    with pytest.raises(click.UsageError, match="nothing was removed"):
        run("rm", "west", typed="east\n")
    assert json.loads(run("rm", "west", "--yes", "--json").stdout) == {"removed": "west"}
    with pytest.raises(ApiError) as gone:
        run("show", "west")
    assert (gone.value.code, exit_code_of(gone.value)) == ("cluster_not_found", 3)


def test_the_yaml_of_missing_rights_is_printed_alone(run: Run, file: str, answers: Answers) -> None:
    answers.denied = {("nodes", "watch")}
    tried = run("test", "--kubeconfig", file, "--yaml")
    assert tried.return_value == EXIT_FAILED
    run("register", "west", "--kubeconfig", file)
    granting = run("show", "west", "--yaml").stdout
    assert granting == tried.stdout
    assert [role["kind"] for role in yaml.safe_load_all(granting)] == [
        "ClusterRole",
        "ClusterRoleBinding",
    ]
    checked = run("check", "west")
    assert (checked.return_value, granting in checked.stdout) == (EXIT_FAILED, True)

    answers.denied = set()
    assert run("check", "west").return_value == 0
    assert run("show", "west", "--yaml").stdout == ""
    with pytest.raises(click.UsageError, match="not both"):
        run("show", "west", "--yaml", "--json")


def test_a_cluster_that_does_not_answer_fails_its_check(run: Run, file: str, settings: Any) -> None:
    run("register", "west", "--kubeconfig", file)
    settings.ATOM_CLUSTER_NETWORKS = []
    checked = run("check", "west")
    assert (checked.return_value, "west is unreachable" in checked.stdout) == (EXIT_FAILED, True)


def test_a_file_that_is_no_kubeconfig_is_refused_before_anything_is_sent(
    run: Run, server: ApiServer, tmp_path: Path
) -> None:
    secret = f"token: {TOKEN}\n".encode()
    for name, data in {
        "empty": b" \n",
        "binary": b"\xff" + secret,
        "zeros": b"\0" + secret,
        "large": secret + b"#" * (1 << 20),
    }.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    refused = {
        "none": "No such file",
        "folder": "Is a directory",
        "empty": "is empty",
        "binary": "not text",
        "zeros": "not text",
        "large": "more than 1 MiB",
    }
    for name, said in refused.items():
        with pytest.raises(click.BadParameter, match=said) as error:
            run("test", "--kubeconfig", str(tmp_path / name))
        assert TOKEN not in str(error.value)
    with pytest.raises(click.BadParameter, match="is empty"):
        run("test", "--kubeconfig", "-", typed=b"")
    for words in ((), ("--kubeconfig", "none", "--in-cluster"), ("--in-cluster", "--context", "c")):
        with pytest.raises(click.UsageError):
            run("test", *words)
    assert server.seen == []


def test_others_see_the_nodes_and_not_the_findings(run: Run, live_server: Any, file: str) -> None:
    run("register", "west", "--kubeconfig", file)
    other = running(live_server, make_member(make_project("audio"), "admin"))
    shown = other("show", "west").stdout
    assert ("gpu-1" in shown, "permissions" in shown, "127.0.0.1" in shown) == (True, False, False)
    with pytest.raises(NotFoundError, match="No check of the rights"):
        other("show", "west", "--yaml")
    with pytest.raises(ApiError) as refused:
        other("drain", "west")
    # As if there were no such address, as elsewhere in the administration.
    assert refused.value.status == 404


def test_the_client_changes_what_a_cluster_has(live_server: Any, run: Run, file: str) -> None:
    run("register", "west", "--kubeconfig", file)
    secret = create_token(User.objects.get(username="boss"), "sdk", ["admin"]).secret
    price = {"kind": "NVIDIA-T4", "per_hour": "0.3500", "currency": "EUR"}
    with Client(live_server.url, secret) as client:
        changed = client.clusters.change("west", projects=["vision"], prices=[price])
    assert (changed["projects"], changed["prices"]) == (["vision"], [price])
