"""Runs in a peer's own environment, without any of Atom: writes its format, then reads rounds.

`peer_worker.py KIND SOURCE TARGET` prepares, prints one line of JSON, and answers each line of its
standard input with a round: all samples once, in random order where the peer can.
"""

import json
import random
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

SHARD_SAMPLES = 1000
BATCH = 64
PAGE_BYTES = 4096
Round = Callable[[int], int]
"""Reads every sample in the order of a seed; returns the bytes that were read."""


def touched(data: bytes | memoryview) -> int:
    """Take one byte of every page of a sample, as the SDK's own round does; returns its size."""
    bytes(memoryview(data)[::PAGE_BYTES])
    return len(data)


def _files(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*") if path.is_file())


def _order(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _webdataset(source: Path, target: Path) -> Round:
    """Shards in random order and a shuffle buffer: it has no random access."""
    import webdataset  # type: ignore[import-not-found]

    files = _files(source)
    random.Random(1).shuffle(files)
    names = []
    for number, start in enumerate(range(0, len(files), SHARD_SAMPLES)):
        names.append(str(target / f"{number:05d}.tar"))
        with tarfile.open(names[-1], "w") as tar:
            for index, path in enumerate(files[start : start + SHARD_SAMPLES]):
                tar.add(path, f"{start + index:08d}.jpg")

    def read(seed: int) -> int:
        samples = webdataset.WebDataset(
            names, shardshuffle=len(names), seed=seed, empty_check=False
        ).shuffle(SHARD_SAMPLES)
        return sum(touched(sample["jpg"]) for sample in samples)

    return read


def _lance(source: Path, target: Path) -> Round:
    """Batches of random rows, which is how its loader takes them."""
    import lance  # type: ignore[import-not-found]
    import pyarrow as pa

    files = _files(source)
    schema = pa.schema([("image", pa.binary())])

    def batches() -> Iterator[Any]:
        for start in range(0, len(files), BATCH):
            data = [path.read_bytes() for path in files[start : start + BATCH]]
            yield pa.record_batch([pa.array(data, pa.binary())], schema=schema)

    dataset = lance.write_dataset(
        pa.RecordBatchReader.from_batches(schema, batches()), str(target / "data.lance")
    )

    def read(seed: int) -> int:
        order = _order(len(files), seed)
        total = 0
        for start in range(0, len(order), BATCH):
            table = dataset.take(order[start : start + BATCH], columns=["image"])
            total += sum(touched(image) for image in table["image"].to_pylist())
        return total

    return read


def _hf(source: Path, target: Path) -> Round:
    """Arrow on disk, memory-mapped, `ds[i]`."""
    import datasets  # type: ignore[import-not-found]

    files = _files(source)
    datasets.disable_progress_bars()

    def rows() -> Iterator[dict[str, bytes]]:
        for path in files:
            yield {"image": path.read_bytes()}

    features = datasets.Features({"image": datasets.Value("binary")})
    made = datasets.Dataset.from_generator(
        rows, features=features, cache_dir=str(target / "cache"), writer_batch_size=BATCH
    )
    made.save_to_disk(str(target / "saved"))
    dataset = datasets.load_from_disk(str(target / "saved"))

    def read(seed: int) -> int:
        return sum(touched(dataset[row]["image"]) for row in _order(len(files), seed))

    return read


def _mds(source: Path, target: Path) -> Round:
    """Its map-style dataset over local shards without compression."""
    _stand_in_for_torch()
    from streaming import LocalDataset, MDSWriter  # type: ignore[import-not-found]

    files = _files(source)
    with MDSWriter(out=str(target / "mds"), columns={"image": "bytes"}) as out:
        for path in files:
            out.write({"image": path.read_bytes()})
    dataset = LocalDataset(str(target / "mds"))

    def read(seed: int) -> int:
        return sum(touched(dataset[row]["image"]) for row in _order(len(files), seed))

    return read


class _StandIns(MetaPathFinder, Loader):
    """Modules of which any name is an empty class, for what a reader imports and does not use."""

    names = ("torch", "torchvision", "transformers", "matplotlib")

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.names:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda kind, item: kind)})


def _stand_in_for_torch() -> None:
    """Let MosaicML be imported without 2 GB of torch: its local reader only inherits from it."""
    sys.meta_path.append(_StandIns())


KINDS: dict[str, Callable[[Path, Path], Round]] = {
    "webdataset": _webdataset,
    "lance": _lance,
    "hf": _hf,
    "mds": _mds,
}


def main() -> None:
    """Prepare, then read a round for every line that comes in."""
    kind, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    target.mkdir(parents=True)
    # Output of libraries must not stand between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    started = time.perf_counter()
    read = KINDS[kind](source, target)
    print(json.dumps({"prepared_s": time.perf_counter() - started}), file=answers, flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        size_bytes = read(int(line))
        answer = {"seconds": time.perf_counter() - started, "bytes": size_bytes}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
