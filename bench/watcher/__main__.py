"""`python -m bench.watcher`: memory for 10,000 pods and processor time of 1,000 changes a second.

The stand-in of a cluster serves in this process; the watcher runs in a child of its own, which
prints its peak memory after the list and the share of a core that the changes took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

from bench.harness import Result, peak_mib, say

PODS, CHANGES_A_SECOND, SECONDS = 10_000, 1_000, 10
MOST_MIB = 300


def run() -> list[Result]:
    """Measure in a process of its own and return memory and the share of one core."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "atom.settings.testing"}
    command = [sys.executable, "-m", "bench.watcher", "measure"]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    figures = json.loads(done.stdout)
    name = f"watcher of a cluster, {PODS:,} pods"
    return [
        Result(f"{name}, peak memory", figures["mib"], "MiB"),
        Result(f"{name}, {CHANGES_A_SECOND:,} changes/s", figures["percent"], "% of one core"),
    ]


def _pod(number: int) -> dict[str, Any]:
    environment = [{"name": f"VARIABLE_{at}", "value": "v" * 60} for at in range(40)]
    return {
        "metadata": {"name": f"rank-{number}", "labels": {"atom.dev/run": str(number // 8)}},
        "spec": {"containers": [{"name": "main", "image": "train:1", "env": environment}]},
        "status": {"phase": "Running"},
    }


def _serve() -> dict[str, float]:
    """Serve the pods, change them while the child watches, and return its figures."""
    from tests.fakes.kubernetes.cluster import Cluster

    with Cluster(tls=True, controllers=False) as cluster:
        for number in range(PODS):
            cluster.create("pods.", _pod(number), "default")
        say(f"{PODS:,} pods of {len(json.dumps(_pod(0)))} bytes and more")
        command = [sys.executable, "-m", "bench.watcher", "child"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdin
            assert child.stdout
            child.stdin.write(json.dumps(cluster.kubeconfig()) + "\n")
            child.stdin.flush()
            listed = json.loads(child.stdout.readline())
            rate = _change(cluster)
            child.stdin.write("end\n")
            child.stdin.flush()
            changed = json.loads(child.stdout.readline())
    wait_s = changed["wall_s"]
    say(f"peak memory after the list: {listed['mib']} MiB (bar {MOST_MIB}), {listed['s']} s")
    say(f"{changed['events']:,} changes, {rate:.0f} a second: peak {changed['mib']} MiB")
    percent = round(100 * changed["cpu_s"] / wait_s, 1)
    say(f"processor: {percent} % of a core over {wait_s} s")
    if changed["mib"] >= MOST_MIB or changed["events"] < CHANGES_A_SECOND * SECONDS:
        raise SystemExit("the bar is missed")
    return {"mib": changed["mib"], "percent": percent}


def _change(cluster: Any) -> float:
    """Change pods at the rate, and return how many changes a second it became."""
    kind = cluster.machinery.kind("pods.").store_key
    began, total = time.monotonic(), CHANGES_A_SECOND * SECONDS
    for count in range(total):
        place = ("default", f"rank-{count % PODS}")
        obj = cluster.store.get(kind, *place)
        labels = obj["metadata"]["labels"] | {"count": str(count)}
        metadata = obj["metadata"] | {"labels": labels}
        cluster.store.put(kind, place, obj | {"metadata": metadata})
        time.sleep(max(0.0, began + (count + 1) / CHANGES_A_SECOND - time.monotonic()))
    return total / (time.monotonic() - began)


def _watch() -> None:
    """Watch as the platform does; print figures after the list and after the changes."""
    from atom.clusters.kubernetes.connection import ClusterConnection
    from atom.clusters.kubernetes.kubeconfig import parse_kubeconfig
    from atom.clusters.kubernetes.watching import Watcher

    access = parse_kubeconfig(json.loads(sys.stdin.readline()))
    events = 0

    def changed(*_: object) -> None:
        nonlocal events
        events += 1

    def slim(body: dict[str, Any]) -> tuple[str, str]:
        return body["metadata"]["labels"]["atom.dev/run"], body["status"]["phase"]

    watcher = Watcher(
        lambda: ClusterConnection(access, ("127.0.0.0/8",)), "/api/v1/pods", slim, changed
    )
    stop, began = threading.Event(), time.monotonic()
    threading.Thread(target=watcher.run, args=(stop,), daemon=True).start()
    watcher.synced.wait(120)
    _print(mib=round(peak_mib()), s=round(time.monotonic() - began, 1))
    events, cpu, began = 0, time.process_time(), time.monotonic()
    sys.stdin.readline()
    until = time.monotonic() + 60
    while events < CHANGES_A_SECOND * SECONDS and time.monotonic() < until:
        time.sleep(0.05)
    wall_s = round(time.monotonic() - began, 1)
    _print(events=events, mib=round(peak_mib()), cpu_s=time.process_time() - cpu, wall_s=wall_s)
    stop.set()


def _print(**figures: float) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.testing")
    if sys.argv[1:] == ["child"]:
        _watch()
    elif sys.argv[1:] == ["measure"]:
        _print(**_serve())
    else:
        _serve()
