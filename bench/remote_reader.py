"""One reader of a training job, in a process of its own: reads its share, computes, says how long.

`python -m bench.remote_reader JOB` (JSON) prints a line when it is ready, begins when a line comes
in, and prints its measures.
"""

from __future__ import annotations

import json
import operator
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Literal

import obstore
from obstore.store import S3Store

from atom_sdk.readers import LocalDataset
from atom_sdk.readers.order import shuffled_order
from atom_sdk.readers.ranges import PackRange, StreamOptions
from atom_sdk.readers.streaming import StreamingDataset

_AHEAD = 8


@dataclass(frozen=True)
class S3Address:
    """Where objects are: an S3 server, perhaps behind a proxy."""

    url: str
    bucket: str
    access_key_id: str
    secret_access_key: str

    def open(self) -> S3Store:
        """Return a client of this process."""
        return S3Store(
            self.bucket,
            endpoint=self.url,
            region="us-east-1",
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )


@dataclass(frozen=True)
class Job:
    """The work of a reader. `compute_s` is the time that a batch takes once it is there."""

    kind: Literal["small", "streamed", "local"]
    address: S3Address
    view: str
    cache: str
    pack_bytes: dict[str, int]
    reader: int
    readers: int
    epoch: int
    compute_s: float
    batch: int = 1

    def encode(self) -> str:
        """Return what `decode` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> Job:
        """Read a job."""
        fields = json.loads(text)
        return cls(**{**fields, "address": S3Address(**fields["address"])})


@dataclass
class Ranges:
    """Ranges of packs through the client that the platform uses."""

    address: S3Address
    pack_bytes: dict[str, int]
    _store: S3Store | None = field(default=None, repr=False)

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return a part of a pack."""
        self._store = self._store or self.address.open()
        size = self.pack_bytes[pack.hex()]
        end = min(start + length, size)
        data = obstore.get_range(self._store, f"packs/{pack.hex()}.tar", start=start, end=end)
        return PackRange(memoryview(data), size)

    def doubt(self, pack: bytes) -> None:
        """Do nothing: a pack is stored once."""


def open_dataset(job: Job) -> LocalDataset:
    """Open the dataset of a job, as a training does before its first epoch."""
    if job.kind != "streamed":
        return LocalDataset(job.view, f"{job.cache}/packs")
    ranges = Ranges(job.address, job.pack_bytes)
    options = StreamOptions(limit_bytes=None, threads=_AHEAD)
    return StreamingDataset(job.view, job.cache, ranges, options)


def samples(job: Job, dataset: LocalDataset) -> Iterator[bool]:
    """Read this reader's share in the order of the epoch; yield whether a sample is whole."""
    rows = shuffled_order(len(dataset), 5, job.epoch).tolist()[job.reader :: job.readers]
    sizes = dataset.index.sizes[rows].tolist()
    if job.kind == "small":
        names = [f"small/{dataset.index.path_of(row)}" for row in rows]
        read = _small_objects(job, names)
    else:
        read = (len(bytes(sample.data)) for sample in dataset.read_many(rows))
    yield from map(operator.eq, read, sizes)


def _small_objects(job: Job, names: list[str]) -> Iterator[int]:
    store = job.address.open()
    with ThreadPoolExecutor(_AHEAD) as pool:
        waiting: deque[Future[int]] = deque()
        for name in names:
            waiting.append(pool.submit(lambda at: len(obstore.get(store, at).bytes()), name))
            if len(waiting) > 2 * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def main() -> None:
    """Wait for the others, then read."""
    job = Job.decode(sys.argv[1])
    dataset = open_dataset(job)
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    waiting_s, count, broken = 0.0, 0, 0
    stream = samples(job, dataset)
    while True:
        asked = time.perf_counter()
        is_whole = next(stream, None)
        waiting_s += time.perf_counter() - asked
        if is_whole is None:
            break
        count += 1
        broken += not is_whole
        # This stands for a GPU's work; the processor is free for the threads that fetch.
        if count % job.batch == 0:
            time.sleep(job.compute_s)
    total_s = time.perf_counter() - started
    measures = {"samples": count, "broken": broken, "total_s": total_s, "waiting_s": waiting_s}
    print(json.dumps(measures), flush=True)


if __name__ == "__main__":
    main()
