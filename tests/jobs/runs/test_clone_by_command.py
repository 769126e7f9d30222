"""`atom clone` against the real API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from atom.core import clock
from atom.jobs.models import Run
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import ApiError, Client
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db(transaction=True)
A100, T4 = "NVIDIA A100-SXM4-80GB", "NVIDIA T4"


@pytest.fixture
def machines() -> None:
    """Two machines of Atom's own, with GPUs of two kinds."""
    cluster = ensure_local_node().cluster
    for name, model in (("large", A100), ("small", T4)):
        Node.objects.create(
            cluster=cluster,
            name=name,
            cpu_count=8,
            memory_bytes=32 << 30,
            gpu_count=4,
            gpu_model=model,
            gpu_ids=[f"GPU-{name}-{number}" for number in range(4)],
            heartbeat_at=clock.now(),
        )


def cloned(live_server: Any, run: Run, *words: str) -> Any:
    context = Context()
    maker = run.created_by
    assert maker is not None
    with Client(live_server.url, create_token(maker, "cli", ["write"]).secret, "vision") as client:
        context._client = client
        done = CliRunner().invoke(
            cli, ["--json", "clone", str(run.number), *words], obj=context, standalone_mode=False
        )
    if done.exception is not None:
        raise done.exception
    return json.loads(done.stdout)


def test_a_clone_takes_other_values_of_parameters(live_server: Any, project: Project) -> None:
    maker = make_member(project, "researcher")
    run = make_run(project, maker, parameters={"lr": 0.1, "opt": "adam"})
    copy = cloned(live_server, run, "-p", "lr=0.01")
    assert copy["parameters"] == {"lr": 0.01, "opt": "adam"}


@pytest.mark.usefixtures("machines")
def test_a_clone_takes_another_kind_and_number_of_gpus(live_server: Any, project: Project) -> None:
    run = make_run(project, make_member(project, "researcher"), gpus=1, accelerator=T4)
    copy = cloned(live_server, run, "--accelerator", "NVIDIA-A100-SXM4-80GB", "--gpus", "3")
    assert (copy["accelerator"], copy["resources"]["gpus"]) == (A100, 3)
    assert copy["resources"]["cpus"] == run.cpus
    assert cloned(live_server, run)["accelerator"] == T4
    assert cloned(live_server, run, "--accelerator", "")["accelerator"] == ""
    # Without GPUs no kind is left to choose.
    assert cloned(live_server, run, "--gpus", "0")["accelerator"] == ""
    with pytest.raises(ApiError) as refused:
        cloned(live_server, run, "--cluster", "nowhere")
    assert list(refused.value.errors) == ["cluster"]
