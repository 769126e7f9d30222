"""Runs that stream from a cluster, one after the other, while the soak kills."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from atom_sdk.client import Client
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.kills.cluster_record import ClusterRecord
from tests.kills.presence import Presence
from tests.kills.streamed_runs import Judgement, StreamedRun
from tests.soak.ledger import Ledger, RunNote
from tests.stack import Stack

CLUSTER = "soak"
# A run streams for so long before it is told to end.
STREAMS_S = (5.0, 40.0)


@dataclass
class Streamer(threading.Thread):
    """Starts one run in the cluster after the other until the soak is over."""

    number: int
    client: Client
    presence: Presence
    ledger: Ledger
    seed: int
    over: threading.Event
    doing: str = "nothing yet"
    runs: list[StreamedRun] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True, name=f"streamer {self.number}")
        self._random = random.Random(self.seed)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Stream until it is over; the run that was begun is followed to its end."""
        while not self.over.is_set():
            name = f"stream-{self.number}-{len(self.runs) + 1}"
            run = StreamedRun(name, self.client, CLUSTER, self.presence)
            self.runs.append(run)
            self._stream(run)
        self.doing = "done"

    def _stream(self, run: StreamedRun) -> None:
        self.doing = f"starting {run.name}"
        run.start()
        try:
            run.await_lines(1)
        except AssertionError as error:
            self.ledger.complain(str(error))
            return
        self.doing = f"streaming {run.name}"
        self.over.wait(self._random.uniform(*STREAMS_S))
        self.doing = f"ending {run.name}"
        self.presence.finish(run.run_id)
        run.join()
        note = RunNote(run.run_id, run.name, state=run.state)
        self.ledger.note(runs={run.run_id: note})


@dataclass
class Streams:
    """The cluster of a soak with those who stream from it; use it as a context manager."""

    stand_in: StandIn
    presence: Presence = field(default_factory=Presence)
    streamers: list[Streamer] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.record = ClusterRecord(self.stand_in)

    def __enter__(self) -> Streams:
        """Serve."""
        self.presence.__enter__()
        self.stand_in.start()
        for name in ("n1", "n2"):
            self.stand_in.nodes.add(name)
        return self

    def __exit__(self, *_: object) -> None:
        """End every pod and the cluster."""
        self.stand_in.stop()
        self.presence.__exit__()

    def begin(self, admin: Client, clients: Iterable[Client], ledger: Ledger, seed: int) -> None:
        """Register the cluster and let each of the clients stream from it."""
        admin.clusters.register(CLUSTER, kubeconfig=self.stand_in.kubeconfig())
        for number, client in enumerate(clients):
            arguments = (number, client, self.presence, ledger, seed + number, self.over)
            self.streamers.append(Streamer(*arguments))
            self.streamers[-1].start()

    def complaints(self, stack: Stack) -> Iterator[str]:
        """Return what is wrong with the runs and the cluster, once all have ended."""
        yield from self.presence.complaints
        yield from self.record.complaints(stack)
        for streamer in self.streamers:
            for run in streamer.runs:
                yield from Judgement(stack, run).complaints()
