"""`python -m bench.warm_up`: a version on the disks of several nodes, by real agents on loopback.

Each agent is a process with a cache of its own. A forwarder before the object store counts the
bytes that it sends: the nodes together should read the version there about once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.api.hot_lists import database
from bench.harness import RESULTS, processor_speed

PACK_BYTES = 16 << 20
MOST_ORIGIN_SHARE = 1.1
_WITHIN_S = 600.0


class Forwarder:
    """Joins each connection to the object store and counts the bytes that come from there."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._guard = threading.Lock()
        self.sent_bytes = 0
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            store = socket.create_connection(self._upstream)
            threading.Thread(target=self._carry, args=(client, store), daemon=True).start()
            threading.Thread(target=self._carry_back, args=(store, client), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 18):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def _carry_back(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 18):
                with self._guard:
                    self.sent_bytes += len(data)
                target.sendall(data)
        target.close()


def make_version(size_bytes: int) -> Any:
    """Return a version of random bytes in packs that are stored."""
    from tests.cache.agents.many_packs import store_pack, version_of_packs
    from tests.factories.datasets import make_dataset

    dataset = make_dataset()
    count = max(size_bytes // PACK_BYTES, 1)
    digests = [store_pack(dataset, os.urandom(PACK_BYTES)) for _ in range(count)]
    return version_of_packs(digests, PACK_BYTES, dataset)


@contextmanager
def running_agent(world: Any, node: str, folder: Path, api_url: str) -> Iterator[Path]:
    """Run the program `atom-agent` of a node; yield its cache folder."""
    pod = world.pod(node)
    folder.mkdir()
    (folder / "token").write_text(world.token(pod))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(["agent", "sdk"]),
        "ATOM_API_URL": api_url,
        "ATOM_AGENT_CLUSTER": str(world.cluster.pk),
        "ATOM_AGENT_NODE": node,
        "ATOM_AGENT_POD": pod["metadata"]["name"],
        "ATOM_AGENT_POD_UID": pod["metadata"]["uid"],
        "ATOM_AGENT_POD_IP": "127.0.0.1",
        "ATOM_AGENT_PORT": str(port),
        "ATOM_AGENT_TOKEN_FILE": str(folder / "token"),
        "ATOM_AGENT_CACHE": str(folder / "cache"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "atom_agent.main", "run"], env=env, stderr=subprocess.DEVNULL
    )
    try:
        yield folder / "cache"
    finally:
        process.kill()
        process.wait()


def measure(
    agents: int, size_bytes: int, work: Path, forwarder: Forwarder
) -> dict[str, int | float]:
    """Warm a version on as many nodes; return seconds, bytes of the version and of the origin."""
    from django.conf import settings

    from atom.cache.agents.actions.plans import PlanOptions, start_plan
    from atom.cache.models import NodeAgent, WarmPlan
    from tests.cache.agents.world import agent_world
    from tests.factories.accounts import make_user
    from tests.jobs.live import serve, wait_for

    version = make_version(size_bytes)
    names = [f"n{number}" for number in range(agents)]
    with ExitStack() as stack:
        world = stack.enter_context(agent_world(settings, *names))
        api_url = stack.enter_context(serve())
        caches = [
            stack.enter_context(running_agent(world, name, work / name, api_url)) for name in names
        ]
        live = NodeAgent.objects.exclude(reported_at=None)
        wait_for(lambda: live.count() == agents, _WITHIN_S)
        before, began = forwarder.sent_bytes, time.perf_counter()
        plan = start_plan(version, world.cluster, PlanOptions(copies=agents), make_user())
        plans = WarmPlan.objects.filter(pk=plan.pk).exclude(state="running")
        wait_for(plans.exists, _WITHIN_S)
        took_s = time.perf_counter() - began
        plan.refresh_from_db()
        if plan.state != "done":
            raise SystemExit(f"The plan failed: {plan.error}")
        stored = sum(path.stat().st_size for cache in caches for path in cache.glob("*/packs/*"))
        return {
            "seconds": took_s,
            "version": version.size_bytes,
            "origin": forwarder.sent_bytes - before,
            "stored": stored,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--mib", type=int, default=208)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    size_bytes = options.mib << 20
    work = Path(tempfile.mkdtemp(prefix="atom-warm-up-"))
    free = shutil.disk_usage(work).free
    if free < (options.agents + 2) * size_bytes:
        raise SystemExit(f"{work} has {free >> 20} MiB free; each agent needs {options.mib} MiB.")
    try:
        with database():
            import structlog
            from django.conf import settings

            from atom.core import storage

            structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
            store = urlsplit(settings.S3_ENDPOINT_URL)
            forwarder = Forwarder((store.hostname or "", store.port or 80))
            settings.S3_PUBLIC_ENDPOINT_URL = f"http://127.0.0.1:{forwarder.port}"
            # Presigned addresses lead through the forwarder.
            storage.objects.cache_clear()
            result = measure(options.agents, size_bytes, work, forwarder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    mib = {name: int(count) >> 20 for name, count in result.items()}
    share = result["origin"] / result["version"]
    page = (
        "# Warm-up by node agents\n\n"
        f"{options.agents} agents on loopback, a version of {mib['version']} MiB in packs of "
        f"{PACK_BYTES >> 20} MiB, all on one disk:\n"
        f"{result['seconds']:.1f} s until each node has it, {mib['stored']} MiB on the disks. "
        f"The object store sent\n{mib['origin']} MiB, {share:.3f} times the version; the target "
        f"is at most {MOST_ORIGIN_SHARE}.\n\n"
        f"Processor {processor_speed()} million additions a second; `python -m bench.warm_up`. "
        f"{options.note}\n"
    )
    (RESULTS / "warm-up.md").write_text(page)
    sys.stdout.write(page)
    if share > MOST_ORIGIN_SHARE:
        raise SystemExit("The nodes read the object store too often.")


if __name__ == "__main__":
    main()
