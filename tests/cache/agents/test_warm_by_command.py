"""`atom data warm --cluster`, `atom data warm-plans` and `atom cluster agent` by the real API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from atom.accounts.actions import create_token
from atom.accounts.models import User
from atom.cache.models import WarmPlan
from atom.datasets.models import Version
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from tests.cache.agents.world import AgentWorld, agent_world
from tests.datasets.pushing import Pusher

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def world(pusher: Pusher, settings: Any) -> Iterator[AgentWorld]:
    with agent_world(settings, "n1") as world:
        world.joined("n1").report(packs={})
        yield world


def test_a_plan_is_started_shown_and_cancelled(
    world: AgentWorld, version: Version, live_server: Any, settings: Any
) -> None:
    settings.ATOM_AGENT_IMAGE = "registry.example/atom-agent:1"
    secret = create_token(User.objects.get(username="admin-of-east"), "cli", ["admin"]).secret
    ref = f"{version.dataset.name}@{version.ref}"

    def atom(*words: str) -> Result:
        context = Context()
        with Client(live_server.url, secret, version.dataset.project.slug) as client:
            context._client = client
            return CliRunner().invoke(cli, [*words], obj=context, standalone_mode=False)

    made = atom("data", "warm", ref, "--cluster", "east", "--copies", "1", "--deadline", "2h")
    assert made.exception is None, made.exception
    assert "n1" in made.output
    plan = WarmPlan.objects.get()
    assert plan.deadline is not None
    (row,) = json.loads(atom("data", "warm-plans", "--json").stdout)
    assert (row["id"], row["state"]) == (str(plan.pk), "running")
    cancelled = atom("data", "warm-plans", str(plan.pk), "--cancel", "--json")
    assert json.loads(cancelled.stdout)["state"] == "cancelled"
    assert atom("data", "warm", ref, "--rate", "1m").exception is not None
    _, account, daemon_set = yaml.safe_load_all(atom("cluster", "agent", "east").stdout)
    with_volumes = yaml.safe_load_all(atom("cluster", "agent", "east", "--volumes").stdout)
    assert "CSIDriver" in [item["kind"] for item in with_volumes]
    assert (account["kind"], daemon_set["kind"]) == ("ServiceAccount", "DaemonSet")
    WarmPlan.objects.update(state="failed", error="It failed.")
    shown = atom("data", "warm-plans", str(plan.pk))
    assert "It failed." in shown.output
