"""`python -m bench.warm_polls`: requests for work of many node agents, as the server answers them.

No agent runs: the actions are called one after the other in this process, with a real PostgreSQL.
Each simulated agent says at its next poll that all its fetches are done, which is faster than any
network. Times are those of one process.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psutil

from bench.api.hot_lists import database
from bench.harness import RESULTS, peak_mib, processor_speed

PACK_BYTES = 16 << 20
_ROOM = 4
_POLL_EVERY_S = 2.0


@dataclass
class Costs:
    """Milliseconds of polls: on the clock, of the processor in this process and PostgreSQL."""

    clock: list[float] = field(default_factory=list)
    own: float = 0.0
    database: float = 0.0

    @property
    def processor(self) -> float:
        """Return the mean of a poll, with the database's part."""
        return (self.own + self.database) / len(self.clock)

    @property
    def median(self) -> float:
        """Return the median on the clock."""
        return statistics.median(self.clock)


@dataclass
class Polls:
    """Costs of the polls of a number of agents, while they warm and when all is there."""

    agents: int
    packs: int
    warming: Costs = field(default_factory=Costs)
    idle: Costs = field(default_factory=Costs)
    from_origin: int = 0
    fetched: int = 0
    is_done: bool = False

    def line(self) -> str:
        """Return a row of the table."""
        cores = self.agents / _POLL_EVERY_S / 1000
        return (
            f"| {self.agents} | {len(self.warming.clock):,} | {self.warming.median:.1f} "
            f"| {self.warming.processor:.1f} | {self.warming.processor * cores:.2f} "
            f"| {self.idle.median:.1f} | {self.idle.processor:.1f} "
            f"| {self.idle.processor * cores:.2f} | {self.fetched:,} | {self.from_origin:,} "
            f"| {'yes' if self.is_done else 'no'} |"
        )


@contextmanager
def counted(costs: Costs) -> Iterator[None]:
    """Add the polls of a block to costs, and the processor's time of the database's process."""
    from django.db import connection

    connection.ensure_connection()
    backend = psutil.Process(connection.connection.info.backend_pid)
    own, before = time.process_time(), backend.cpu_times()
    yield
    after = backend.cpu_times()
    costs.own += (time.process_time() - own) * 1000
    costs.database += (after.user + after.system - before.user - before.system) * 1000


def poll(costs: Costs, agent: Any, report: Any) -> list[dict[str, Any]]:
    """Ask for work as an agent does; return its fetches."""
    from atom.cache.agents.actions.work import work

    began = time.perf_counter()
    fetches: list[dict[str, Any]] = work(agent, report)["fetches"]
    costs.clock.append((time.perf_counter() - began) * 1000)
    return fetches


def make_agents(cluster: Any, count: int) -> list[Any]:
    """Return agents of new nodes, which count as live for a day."""
    from atom.cache.models import NodeAgent
    from atom.clusters.models import Node
    from atom.core import clock

    disk = {
        **{"total_bytes": 1 << 44, "free_bytes": 1 << 43, "cache_bytes": 0},
        **{"limit_bytes": None, "is_read_only": False, "problem": ""},
    }
    later = clock.now() + timedelta(days=1)
    agents = []
    for number in range(count):
        node = Node.objects.create(
            cluster=cluster, name=f"n{number:04}", cpu_count=8, memory_bytes=1 << 36
        )
        agents.append(
            NodeAgent.objects.create(
                node=node, address=f"http://10.0.{number // 250}.{number % 250 + 1}:7480",
                pod=node.name, pod_uid=node.name, token_hash=f"{cluster.name} {number}",
                token_expires_at=later, joined_at=later, reported_at=later, disk=disk,
                needs_packs=False,
            )
        )  # fmt: skip
    return agents


def measure(count: int, packs: int, budget_s: float) -> Polls:
    """Warm a version on all nodes, for at most `budget_s`, and poll each idle agent twice."""
    from atom.cache.agents.actions.plans import PlanOptions, cancel_plan, start_plan
    from atom.cache.agents.actions.work import WorkReport, work
    from atom.cache.models import WarmPlan
    from atom.clusters.models import Cluster
    from tests.cache.agents.many_packs import named_digests, version_of_packs
    from tests.factories.accounts import make_user

    version = version_of_packs(named_digests(packs), PACK_BYTES)
    cluster = Cluster.objects.create(name=f"c{count}", kind="kubernetes", server="https://c")
    agents = make_agents(cluster, count)
    user = make_user(f"user-{count}")
    plan = start_plan(version, cluster, PlanOptions(copies=count), user)
    polls = Polls(count, packs)
    open_rows: dict[Any, list[dict[str, Any]]] = {agent.pk: [] for agent in agents}
    ends = time.perf_counter() + budget_s
    with counted(polls.warming):
        for agent in itertools.cycle(agents):
            done = [
                {"fetch": row["fetch"], "bytes": row["size_bytes"], "seconds": 0.5}
                for row in open_rows[agent.pk]
            ]
            fetches = poll(polls.warming, agent, WorkReport(_ROOM, done=done))
            open_rows[agent.pk] = fetches
            polls.fetched += len(done)
            polls.from_origin += sum(row["source"]["kind"] == "origin" for row in fetches)
            polls.is_done = agent is agents[-1] and not WarmPlan.objects.filter(
                pk=plan.pk, state="running"
            )
            if polls.is_done or time.perf_counter() >= ends:
                break
    if not polls.is_done:
        cancel_plan(plan, user)
        for agent in agents:
            work(agent, WorkReport(0))
    with counted(polls.idle):
        for agent in [*agents, *agents]:
            poll(polls.idle, agent, WorkReport(_ROOM))
    return polls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, nargs="+", default=[8, 50, 500])
    parser.add_argument("--packs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    with database():
        import structlog

        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
        rows = [measure(count, options.packs, options.seconds) for count in options.agents]
        page = (
            "# Polls of node agents\n\n"
            f"A plan of a version with {options.packs:,} packs for all nodes, at most "
            f"{options.seconds:.0f} s each; one process,\none request after the other. "
            "Processor: of this process and of PostgreSQL's. Cores: for so many agents that\n"
            "poll each 2 s. HTTP and its checks come on top.\n\n"
            "| agents | polls | ms | processor ms | cores | idle: ms | processor ms | cores "
            "| fetches | from the origin | all done |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n"
            + "\n".join(row.line() for row in rows)
            + f"\n\nProcessor {processor_speed()} million additions a second, "
            f"{peak_mib():,.0f} MiB; `python -m bench.warm_polls`. {options.note}\n"
        )
    (RESULTS / "warm-polls.md").write_text(page)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
