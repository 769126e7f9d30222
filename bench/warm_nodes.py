"""`python -m bench.warm_nodes`: epochs of 1 to 8 nodes, with and without their own packs.

The object store is 20 ms away and sends 1 Gbit/s to all nodes together. Each node is a reader of
its share, and an agent with a cache of its own. The first epoch streams packs. Then a plan brings
the version to each node, by the store and by peers. The second epoch reads the nodes' disks.
Readers of small objects ask the store for each sample, in each epoch.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bench.api.hot_lists import database
from bench.corpus import write_files
from bench.harness import RESULTS, processor_speed, say
from bench.plots import pyplot
from bench.reads import pack_folder
from bench.remote import Epoch, read_epoch, slow_road, store_files
from bench.remote_reader import Job, S3Address
from bench.warm_up import running_agent

LEAST_GAIN: Final = 5.0
# A batch of 64 images each 4 ms: at most 16,000 images a second for each node.
_BATCH, _STEP_S = 64, 0.004
_WITHIN_S = 300.0
SMALL, FIRST, SECOND = "small objects", "packs, first epoch", "packs, second epoch"
WARM_S = "seconds of the plan"


@dataclass(frozen=True)
class Corpus:
    """Files, their packs, and the version that the packs stand for."""

    view: Path
    sizes: Mapping[str, int]
    version: Any


@dataclass(frozen=True)
class Stage:
    """A registered cluster, the address of Atom's API, and of the store as it is from afar."""

    world: Any
    api_url: str
    far: S3Address


def store_at(url: str) -> S3Address:
    """Return the object store of the installation as it is from an address."""
    from django.conf import settings

    key, secret = settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY
    return S3Address(url, settings.S3_BUCKET, key, secret)


def make_corpus(folder: Path, files: int) -> Corpus:
    """Write files, pack them, and store both; the agents fetch packs of a version."""
    from django.conf import settings

    from tests.cache.agents.many_packs import store_pack, version_of_packs
    from tests.factories.datasets import make_dataset

    write_files(folder / "files", files)
    view, packs = pack_folder(folder / "files", folder)
    store_files(store_at(settings.S3_ENDPOINT_URL).open(), folder / "files", packs)
    dataset = make_dataset()
    paths = sorted(packs.iterdir())
    digests = [store_pack(dataset, path.read_bytes()) for path in paths]
    sizes = [path.stat().st_size for path in paths]
    version = version_of_packs(digests, sizes, dataset)
    shutil.rmtree(folder / "files")
    return Corpus(view, {path.stem: size for path, size in zip(paths, sizes, strict=True)}, version)


@contextmanager
def stage(nodes: Sequence[str]) -> Iterator[Stage]:
    """Yield a cluster with nodes, where agents and readers meet the store over a slow road."""
    from django.conf import settings

    from atom.core import storage
    from tests.cache.agents.world import agent_world
    from tests.jobs.live import serve

    port = urlsplit(settings.S3_ENDPOINT_URL).port or 80
    with slow_road(port) as url, agent_world(settings, *nodes) as world, serve() as api_url:
        settings.S3_PUBLIC_ENDPOINT_URL = url
        # Presigned addresses lead over the road.
        storage.objects.cache_clear()
        yield Stage(world, api_url, store_at(url))


def measure(stage: Stage, corpus: Corpus, nodes: Sequence[str], work: Path) -> dict[str, Any]:
    """Return the epochs of so many nodes by kind, and the seconds of the plan."""
    job = Job(
        kind="small",
        address=stage.far,
        view=str(corpus.view),
        cache="",
        pack_bytes=dict(corpus.sizes),
        reader=0,
        readers=len(nodes),
        epoch=0,
        compute_s=_STEP_S,
        batch=_BATCH,
    )
    jobs = [
        replace(job, reader=number, cache=str(work / "streamed" / name))
        for number, name in enumerate(nodes)
    ]
    measures: dict[str, Any] = {SMALL: read_epoch(jobs)}
    measures[FIRST] = read_epoch([replace(job, kind="streamed") for job in jobs])
    with ExitStack() as stack:
        caches = [
            stack.enter_context(running_agent(stage.world, name, work / name, stage.api_url))
            for name in nodes
        ]
        measures[WARM_S] = _warm(stage, corpus.version, nodes)
    project = str(corpus.version.dataset.project_id)
    measures[SECOND] = read_epoch(
        [
            replace(job, kind="local", cache=str(cache / project), epoch=1)
            for job, cache in zip(jobs, caches, strict=True)
        ]
    )
    return measures


def _warm(stage: Stage, version: Any, nodes: Sequence[str]) -> float:
    """Bring the version to nodes whose agents have started; return the seconds."""
    from atom.cache.agents.actions.plans import PlanOptions, start_plan
    from atom.cache.models import NodeAgent, WarmPlan
    from tests.jobs.live import wait_for

    live = NodeAgent.objects.filter(node__name__in=nodes).exclude(reported_at=None)
    wait_for(lambda: live.count() == len(nodes), _WITHIN_S)
    began = time.perf_counter()
    plan = start_plan(version, stage.world.cluster, PlanOptions(nodes=nodes), None)
    wait_for(WarmPlan.objects.filter(pk=plan.pk).exclude(state="running").exists, _WITHIN_S)
    took_s = time.perf_counter() - began
    plan.refresh_from_db()
    if plan.state != "done":
        raise SystemExit(f"The plan failed: {plan.error}")
    return took_s


Rounds = Mapping[int, Sequence[Mapping[str, Any]]]


def _medians(rounds: Rounds, kind: str, field: str) -> dict[int, float]:
    """Return the median of a field of epochs by the number of nodes."""
    return {
        nodes: statistics.median(getattr(measures[kind], field) for measures in of_nodes)
        for nodes, of_nodes in rounds.items()
    }


def page(rounds: Rounds, corpus: Corpus, note: str) -> str:
    """Return the page of results."""
    kinds = (SMALL, FIRST, SECOND)
    rates = {kind: _medians(rounds, kind, "rate") for kind in kinds}
    waiting = {kind: _medians(rounds, kind, "waiting_share") for kind in kinds}
    whole = {kind: _medians(rounds, kind, "whole_share") for kind in kinds}
    lines = []
    for nodes, of_nodes in rounds.items():
        plan_s = statistics.median(measures[WARM_S] for measures in of_nodes)
        cells = [
            f"{rates[kind][nodes]:,.0f} | {100 * waiting[kind][nodes]:.0f} % "
            f"| {100 * whole[kind][nodes]:.0f} %"
            for kind in kinds
        ]
        cells.append(f"{_gain(of_nodes):.1f}×")
        cells.append(f"{rates[SECOND][nodes] / rates[SMALL][nodes]:.1f}×")
        lines.append(f"| {nodes} | {' | '.join(cells)} | {plan_s:.1f} |")
    size_mib = sum(corpus.sizes.values()) >> 20
    return (
        "# Epochs beside the data\n\n"
        f"A version of {size_mib} MiB in {len(corpus.sizes)} packs. The store is 20 ms away and "
        "sends 1 Gbit/s to all nodes\ntogether. Each node is a process that reads its share in "
        f"random order and computes {1000 * _STEP_S:.0f} ms for each batch of {_BATCH}.\n"
        "Images/s of all nodes, the share of their time that they waited, and the samples that "
        "came whole. The\nfirst epoch streams with nothing beside it; then a plan brings the "
        "version to each node. In this order each node streams parts of each pack, so that more "
        "nodes share the store\nlonger.\n\n"
        "| nodes | small objects | waits | whole | first epoch | waits | whole | second epoch "
        "| waits | whole | second/first | second/small | plan, s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        + "\n".join(lines)
        + f"\n\nMedians of {len(next(iter(rounds.values())))} rounds; the target is a second "
        f"epoch at least {LEAST_GAIN:.0f} times as fast as the first.\n\n"
        "![images a second and waiting over the number of nodes](warm-nodes.svg)\n\n"
        f"Processor {processor_speed()} million additions a second; "
        f"`python -m bench.warm_nodes`. {note}\n"
    )


def draw(rounds: Rounds, path: Path) -> None:
    """Draw rates and waiting over the number of nodes."""
    if (plt := pyplot(path.name)) is None:
        return
    figure, (rates, waiting) = plt.subplots(1, 2, figsize=(10, 4))
    for kind in (SMALL, FIRST, SECOND):
        by_nodes = _medians(rounds, kind, "rate")
        rates.plot(list(by_nodes), list(by_nodes.values()), marker="o", label=kind)
        shares = _medians(rounds, kind, "waiting_share").values()
        waiting.plot(list(by_nodes), [100 * share for share in shares], marker="o", label=kind)
    rates.set(xscale="log", yscale="log", xlabel="nodes", ylabel="images/s")
    waiting.set(xscale="log", ylim=(0, 100), xlabel="nodes", ylabel="% of the time waiting")
    for axes in (rates, waiting):
        axes.set_xticks(list(rounds), [str(nodes) for nodes in rounds])
        axes.minorticks_off()
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _say(nodes: int, measures: Mapping[str, Any]) -> None:
    epochs: dict[str, Epoch] = {k: v for k, v in measures.items() if isinstance(v, Epoch)}
    rates = ", ".join(f"{kind} {epoch.rate:,.0f}" for kind, epoch in epochs.items())
    say(f"{nodes} nodes: {rates} images/s; plan {measures[WARM_S]:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    names = {
        (number, count): [f"r{number}-of{count}-{node}" for node in range(count)]
        for number in range(options.rounds)
        for count in options.nodes
    }
    rounds: dict[int, list[dict[str, Any]]] = defaultdict(list)
    work = Path(tempfile.mkdtemp(prefix="atom-warm-nodes-"))
    try:
        with database():
            import structlog

            structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
            corpus = make_corpus(work, options.files)
            with stage([name for of_count in names.values() for name in of_count]) as at:
                for (number, count), nodes in names.items():
                    folder = work / f"round-{number}-{count}"
                    folder.mkdir()
                    rounds[count].append(measure(at, corpus, nodes, folder))
                    _say(count, rounds[count][-1])
                    shutil.rmtree(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    text = page(rounds, corpus, options.note)
    (RESULTS / "warm-nodes.md").write_text(text)
    draw(rounds, RESULTS / "warm-nodes.svg")
    sys.stdout.write(text)
    slow = [nodes for nodes, row in rounds.items() if _gain(row) < LEAST_GAIN]
    if slow:
        raise SystemExit(f"The second epoch of {slow} nodes is too slow.")


def _gain(of_nodes: Sequence[Mapping[str, Any]]) -> float:
    gains: list[float] = [measures[SECOND].rate / measures[FIRST].rate for measures in of_nodes]
    return statistics.median(gains)


if __name__ == "__main__":
    main()
