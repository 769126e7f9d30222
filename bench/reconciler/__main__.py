"""`python -m bench.reconciler`: processor time for 1,000 open runs in one cluster.

The stand-in of the cluster and the traffic are in this process: each run's pod changes and each
runner reports once in 10 s. A child does what a worker and the watcher do: the reconciler's tick
once a second, and the follower of the cluster with its ticks after changes. It prints the share of
one core that it took; that of PostgreSQL is measured beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.db.models.functions import Now

from bench.harness import Result, say

RUNS, PERIOD_S, SECONDS = 1_000, 10.0, 45
NAMESPACE = "atom-bench"
MOST_PERCENT = 50
NAME = f"reconciler and watcher, {RUNS:,} open runs in a cluster"
_TICK_S = 1.0
_HZ = os.sysconf("SC_CLK_TCK")


def run() -> list[Result]:
    """Measure in a process of its own and return the shares of one core, in percent."""
    command = [sys.executable, "-m", "bench.reconciler", "measure"]
    done = subprocess.run(command, env=_environment(), check=True, stdout=subprocess.PIPE)
    figures = json.loads(done.stdout)
    return [
        Result(NAME, figures["worker"], "% of one core"),
        Result(f"{NAME}: PostgreSQL meanwhile", figures["database"], "% of one core"),
    ]


def _environment() -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "atom.settings.testing"}


def _measure() -> None:
    from tests.services import claim_worker_share, start_services

    services = start_services()
    claim_worker_share()
    try:
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print(json.dumps(_with_cluster(services.folder)))
    finally:
        services.stop()


def _with_cluster(folder: Path) -> dict[str, float]:
    from django.conf import settings

    from tests.factories.accounts import make_project
    from tests.fakes.kubernetes.cluster import Cluster
    from tests.jobs.executors.kubernetes.world import World

    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with Cluster(tls=True, controllers=False) as stand_in:
        stand_in.nodes.add("n1")
        world = World(stand_in)
        project = make_project("bench")
        pods = _running(world, project)
        say(f"{RUNS:,} runs are open")
        command = [sys.executable, "-m", "bench.reconciler", "child", str(world.cluster.pk)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdin
            assert child.stdout
            child.stdout.readline()
            before = _database_s(folder)
            stop = threading.Event()
            traffic = threading.Thread(target=_traffic, args=(stand_in, pods, stop))
            traffic.start()
            child.stdin.write(b"begin\n")
            child.stdin.flush()
            figures = json.loads(child.stdout.readline())
            database_s = _database_s(folder) - before
            stop.set()
            traffic.join()
    _check(figures)
    wall_s = figures["wall_s"]
    say(f"{figures['ticks']} ticks in {wall_s:.0f} s, the longest {figures['longest_s']:.2f} s")
    looks_ms = 1000 * figures["tick_s"] / figures["looks"]
    say(f"{figures['looks']} looks, each {looks_ms:.1f} ms of processor time")
    # On a busy machine ticks come late and look at less than is due: all that is due counts.
    due_s = wall_s * RUNS / figures["every_s"] * looks_ms / 1000
    others_s = figures["cpu_s"] - figures["tick_s"]
    say(f"the watcher took {others_s:.1f} s, the ticks {figures['tick_s']:.1f} s")
    return {
        "worker": round(100 * (others_s + max(due_s, figures["tick_s"])) / wall_s, 1),
        "database": round(100 * database_s / wall_s, 1),
    }


def _check(figures: dict[str, Any]) -> None:
    """Raise unless all runs were open to the end and the watcher has written."""
    if figures["open"] != RUNS or figures["written"] < RUNS:
        raise SystemExit(f"this was no measure: {figures}")


def _running(world: Any, project: Any) -> list[tuple[str, str]]:
    """Return the places of the pods of runs that their cluster has started."""
    from atom.jobs import states
    from atom.jobs.executors.kubernetes.engines.manifests import job_of
    from atom.jobs.executors.kubernetes.orders import order_of
    from atom.jobs.models import Attempt, Placement, Rank
    from tests.factories.jobs import make_run

    order, pods = None, []
    for _ in range(RUNS):
        run = make_run(project, cluster=world.cluster, state=states.RUNNING)
        uids = str(uuid4()), str(uuid4())
        placement = Placement.objects.create(
            run=run, cluster=world.cluster, namespace=NAMESPACE, job_uid=uids[0]
        )
        attempt = Attempt.objects.create(
            run=run, number=1, state=states.RUNNING, cluster=world.cluster, placed_in=placement
        )
        order = order or order_of(attempt, placement)
        job = job_of(replace(order, placement=str(placement.pk), name=placement.job_name))
        pods.append(_put(world.stand_in, job, uids))
        identity = {"pod": pods[-1][1], "pod_uid": uids[1], "node": "n1"}
        Rank.objects.create(attempt=attempt, identity=identity)
    Rank.objects.update(heartbeat_at=Now())
    return pods


def _put(stand_in: Any, job: dict[str, Any], uids: tuple[str, str]) -> tuple[str, str]:
    """Store a Job and its pod as a cluster has them once it has started them; return the pod's."""
    name = job["metadata"]["name"]
    place = (NAMESPACE, f"{name}-0")
    template = job["spec"]["template"]
    metadata = {"uid": uids[0], "creationTimestamp": "2026-01-01T00:00:00Z"}
    body = {**job, "metadata": {**job["metadata"], **metadata}, "status": {"active": 1}}
    stand_in.store.put("jobs.batch", (NAMESPACE, name), body)
    pod = {
        "metadata": {
            **metadata,
            "uid": uids[1],
            "namespace": NAMESPACE,
            "name": place[1],
            "labels": template["metadata"]["labels"],
            "annotations": {"batch.kubernetes.io/job-completion-index": "0"},
        },
        "spec": template["spec"],
        "status": {"phase": "Running"},
    }
    stand_in.store.put("pods.", place, pod)
    return place


def _traffic(stand_in: Any, pods: list[tuple[str, str]], stop: threading.Event) -> None:
    """Change one pod after the other and note a heartbeat each, all of them once a period."""
    from django.db import connection

    began, count = time.monotonic(), 0
    while not stop.wait(max(0.0, began + count * PERIOD_S / RUNS - time.monotonic())):
        place = pods[count % RUNS]
        stored = stand_in.store.get("pods.", *place)
        status = {
            **stored["status"],
            "containerStatuses": [{"name": "main", "restartCount": count}],
        }
        stand_in.store.put("pods.", place, {**stored, "status": status})
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE jobs_rank SET heartbeat_at = now() WHERE identity->>'pod' = %s", [place[1]]
            )
        count += 1
    connection.close()


def _database_s(folder: Path) -> float:
    """Return the processor seconds of all processes of the database below a folder."""
    total = 0
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").resolve().is_relative_to(folder):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                total += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return total / _HZ


def _child(cluster_id: str) -> None:
    """Tick and follow as worker and watcher do, and print the processor time that it took."""
    import django

    django.setup()
    from django.conf import settings

    from atom.jobs import effects, reconcile
    from atom.jobs.models import Placement

    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    # Workers take a message of the queue; here the loop of ticks does.
    woken = threading.Event()
    effects.wake = woken.set
    with _following(UUID(cluster_id)):
        while Placement.objects.filter(observed_at=None).exists():
            time.sleep(0.2)
        say("the watcher has seen all")
        reconcile.tick()
        _print(ready=True)
        sys.stdin.readline()
        figures = _ticks(woken)
    _print(**figures)


@contextmanager
def _following(cluster_id: UUID) -> Iterator[None]:
    """Follow the cluster in a thread, as the watcher's process does."""
    from atom.jobs.executors.kubernetes.watchers import Follower

    stopping = threading.Event()
    follower = threading.Thread(target=Follower(cluster_id, stopping).run)
    follower.start()
    try:
        yield
    finally:
        stopping.set()
        follower.join()


def _ticks(woken: threading.Event) -> dict[str, Any]:
    """Tick once a second and after each change; return the times and counts of the whole."""
    from atom.jobs import reconcile, states
    from atom.jobs.attempts.actions.looks import LOOK_EVERY
    from atom.jobs.models import Placement, Run

    looks, since = _count_looks(), Placement.objects.latest("observed_at").observed_at
    began, cpu, in_ticks = time.monotonic(), time.process_time(), time.thread_time()
    took_s = []
    while time.monotonic() - began < SECONDS:
        started = time.monotonic()
        reconcile.tick()
        took_s.append(time.monotonic() - started)
        woken.wait(max(0.0, _TICK_S - took_s[-1]))
        woken.clear()
    return {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.monotonic() - began,
        "tick_s": time.thread_time() - in_ticks,
        "looks": len(looks),
        "every_s": LOOK_EVERY.total_seconds(),
        "ticks": len(took_s),
        "longest_s": max(took_s),
        "open": Run.objects.filter(state=states.RUNNING).count(),
        "written": Placement.objects.filter(observed_at__gt=since).count(),
    }


def _count_looks() -> list[UUID]:
    """Return a list to which each look adds the id of its run."""
    from atom.jobs import reconcile

    looks: list[UUID] = []
    advance = reconcile.advance

    def counted(run_id: UUID) -> str | None:
        looks.append(run_id)
        return advance(run_id)

    reconcile.advance = counted
    return looks


def _print(**figures: Any) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["child", cluster]:
            _child(cluster)
        case ["measure"]:
            _measure()
        case _:
            for result in run():
                say(f"{result.name}: {result.value} {result.unit}")
