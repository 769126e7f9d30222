"""Two real agent processes fill the disks of two nodes; one of them is killed on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from atom.cache.agents.actions.plans import PlanOptions, start_plan
from atom.cache.agents.actions.reports import is_live
from atom.cache.models import NodeAgent, PackFetch, WarmPlan
from atom.core import clock
from atom.datasets.catalog.reads import packs_named_by
from atom.datasets.models import Version
from tests.cache.agents.programs import Program
from tests.cache.agents.world import AgentWorld, agent_world
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user
from tests.jobs.live import serve, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def agents(
    pusher: Pusher, settings: Any, tmp_path: Path
) -> Iterator[tuple[AgentWorld, list[Program]]]:
    with ExitStack() as stack:
        world = stack.enter_context(agent_world(settings, "n1", "n2"))
        origin = stack.enter_context(serve())
        programs = [Program(world, node, tmp_path / node, origin) for node in ("n1", "n2")]
        for program in programs:
            stack.callback(program.kill)
        wait_for(lambda: len(live_agents()) == 2)
        yield world, programs


def live_agents() -> list[NodeAgent]:
    now = clock.now()
    return [agent for agent in NodeAgent.objects.all() if is_live(agent, now)]


def is_done(plan: WarmPlan) -> bool:
    plan.refresh_from_db()
    assert plan.state in ("running", "done"), plan.error
    return plan.state == "done"


def test_two_nodes_read_the_origin_once(
    agents: tuple[AgentWorld, list[Program]], version: Version
) -> None:
    world, programs = agents
    packs = set(packs_named_by(version))
    with capture_logs() as lines:
        plan = start_plan(version, world.cluster, PlanOptions(copies=2), make_user())
        wait_for(lambda: is_done(plan))
    kinds = [(row["pack"], row["source"]) for row in lines if row["event"] == "pack_fetched"]
    assert sorted(pack for pack, kind in kinds if kind == "origin") == sorted(packs)
    assert sorted(pack for pack, kind in kinds if kind == "peer") == sorted(packs)
    assert [program.packs() for program in programs] == [packs, packs]


def test_a_node_that_is_killed_in_a_fetch_ends_its_part_later(
    agents: tuple[AgentWorld, list[Program]], version: Version
) -> None:
    world, programs = agents
    # Slow enough that a fetch is open when its node is killed.
    options = PlanOptions(copies=2, rate_bytes_s=200)
    plan = start_plan(version, world.cluster, options, make_user())
    wait_for(PackFetch.objects.exists)
    fetch = PackFetch.objects.select_related("node").all()[0]
    killed = next(program for program in programs if program.node == fetch.node.name)
    killed.kill()
    assert not killed.packs()
    WarmPlan.objects.filter(pk=plan.pk).update(rate_bytes_s=None)
    PackFetch.objects.update(rate_bytes_s=None)
    killed.start()
    wait_for(lambda: is_done(plan))
    packs = set(packs_named_by(version))
    assert [program.packs() for program in programs] == [packs, packs]
    assert not PackFetch.objects.exists()
