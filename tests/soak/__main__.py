"""`make soak`: kills at random during the main job, and a report. Exit code 1 if a thing is wrong.

`SEED`, `KILLS`, `CLIENTS`, `STREAMS`, `MINUTES` and `FAULT_EVERY` (every fifth blow is a fault that
kills nobody; 0: none) are read from the environment. The same seed strikes in the same order, but
not at the same moments: those are the machine's. `CLIENTS` do the main job on the stack's own
machine, `STREAMS` stream from a cluster; either may be 0.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from atom_sdk.client import Client
from tests.e2e import breaking
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.people import administrator, token_of
from tests.services import RUNTIMES_VARIABLE
from tests.soak.faulting import Faults, mount_disks, unmount
from tests.soak.killing import Killer, Kills
from tests.soak.ledger import Ledger
from tests.soak.receiver import Receiver
from tests.soak.streaming import Streamer, Streams
from tests.soak.truth import Truth
from tests.soak.work import Person
from tests.stack import Stack

KINDS = [
    *("run.started", "run.succeeded", "run.failed", "run.cancelled", "version.committed"),
    *("model_version.registered", "label_task.published", "alias.moved"),
]
# How long the clients may take to end what they had begun when the killing ends.
ENDING_S = 600.0
# The runtimes of two workflows are built before anybody is killed.
WARM_UP_S = 900.0


def say(text: str) -> None:
    """Print at once: this runs for an hour."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def new_stack(folder: Path) -> Stack:
    """Return a stack of its own; SOAK_PORT names its first port, else they are free ones."""
    os.environ.setdefault(RUNTIMES_VARIABLE, str(folder / "runtimes"))
    Path(os.environ[RUNTIMES_VARIABLE]).mkdir(exist_ok=True)
    stack = Stack.create()
    if first := os.environ.get("SOAK_PORT"):
        stack.ports = {name: int(first) + n for n, name in enumerate(stack.ports)}
    # The receiver is on this machine; administrators ask the health page as often as they like.
    stack.external = {"ATOM_WEBHOOK_ALLOW": "127.0.0.1", "ATOM_RUNNER_LOST_AFTER_S": "10"}
    stack.external |= {"ATOM_WATCH_CLUSTERS": "1", "ATOM_CLUSTER_NETWORKS": "127.0.0.0/8"}
    return stack


def soak(stack: Stack, folder: Path, seed: int, disks: list[Path]) -> bool:
    """Run everything; return whether all is well."""
    kills, minutes = int(os.environ.get("KILLS", "100")), float(os.environ.get("MINUTES", "60"))
    token = token_of(stack, administrator(stack), "soak")
    admin = token_of(stack, administrator(stack), "soak health", "admin")
    ledger, receiver = Ledger(), Receiver(seed)
    new_client = partial(Client, stack.base_url, token, "demo")
    with (
        Client(stack.base_url, admin, "demo") as client,
        Streams(StandIn(tls=True, kubelet=True)) as streams,
    ):
        body = {"name": "soak", "url": receiver.url, "events": KINDS}
        receiver.secret = client.http.post("projects/demo/webhooks/", body)["secret"]
        people = [
            Person(number, new_client(), ledger, folder, seed + number, streams.over)
            for number in range(int(os.environ.get("CLIENTS", "3")))
        ]
        for person in people:
            person.start()
        count = int(os.environ.get("STREAMS", "2"))
        streams.begin(client, [new_client() for _ in range(count)], ledger, seed)
        workers: list[Person | Streamer] = [*people, *streams.streamers]
        warm_up(ledger, people, streams)
        killer = Killer(stack, seed, streams, has_people=bool(people))
        faults = Faults(stack, seed, disks, killer.kills, streams)
        until = time.monotonic() + minutes * 60
        done = strike(killer, faults, kills, until, workers)
        streams.over.set()
        say("killing has ended; everybody finishes what they had begun")
        deadline = time.monotonic() + ENDING_S
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
            if worker.is_alive():
                ledger.complain(f"{worker.name} is not done: {worker.doing}")
        wrong = done.failures + ledger.complaints
        wrong += Truth(stack, client, ledger, receiver, streams).complaints()
    report(ledger, done, wrong)
    return not wrong


def warm_up(ledger: Ledger, people: list[Person], streams: Streams) -> None:
    """Wait until everything was done once, undisturbed.

    A build is killed with its worker and begun anew; while runs wait for it, no job runs that could
    be killed.
    """
    if people:
        breaking.wait_for(
            lambda: ledger.cycles >= 2 and ledger.evaluations, "two main jobs", WARM_UP_S, 1.0
        )
    if streams.streamers:
        breaking.wait_for(streams.presence.alive, "a run in the cluster", WARM_UP_S, 1.0)
    say(f"{ledger.cycles} main jobs done undisturbed; killing begins")


def strike(
    killer: Killer, faults: Faults, kills: int, until: float, workers: list[Person | Streamer]
) -> Kills:
    """Kill, and break otherwise now and then, until it was enough or the time is over."""
    every = int(os.environ.get("FAULT_EVERY", "5"))
    while (done := killer.kills.total) < kills and time.monotonic() < until:
        strikes = faults if every and done % every == every - 1 else killer
        if victim := strikes.strike():
            doing = "; ".join(worker.doing for worker in workers)
            say(f"{killer.kills.total}/{kills} {victim}: back ({doing})")
        killer.pause()
    return killer.kills


def report(ledger: Ledger, kills: Kills, wrong: list[str]) -> None:
    """Print what was done, how long each part took to come back, and what is wrong."""
    statuses = ", ".join(f"{n} × {status}" for status, n in sorted(ledger.statuses.items()))
    say(
        f"{kills.total} kills; {ledger.cycles} main jobs, {len(ledger.versions)} versions, "
        f"{len(ledger.labels)} labels, {len(ledger.runs)} runs, {len(ledger.models)} models, "
        f"{len(ledger.evaluations)} evaluations acknowledged; answers: {statuses}"
    )
    print(f"{'killed':<22}{'times':>6}{'median s':>10}{'worst s':>10}")
    for name, times in sorted(kills.recoveries_s.items()):
        print(f"{name:<22}{len(times):>6}{statistics.median(times):>10.1f}{max(times):>10.1f}")
    for text in wrong:
        print(f"WRONG: {text}")
    say("all is well" if not wrong else f"{len(wrong)} things are wrong")


def main() -> int:
    """Soak, and take the stack away again."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000))
    say(f"SEED={seed}")
    with tempfile.TemporaryDirectory(prefix="atom-soak-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        stack = new_stack(folder)
        disks = mount_disks(stack.home)
        if not disks:
            say("no disks of our own: full disks are left out")
        try:
            stack.start()
            well = soak(stack, folder, seed, disks)
            stack.stop()
        finally:
            stack.command("down")
            unmount(disks)
            stack.remove()
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
