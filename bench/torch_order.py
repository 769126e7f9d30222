"""Shows with real torch that ranks and workers read every sample once, and resume without repeats.

Run `python -m bench.torch_order` where torch is installed; the end-to-end tests do so with the
interpreter of the built-in training. Two processes of two workers each read an epoch, and four
steps of the next; three others read the rest of that. Then workers that live for many epochs,
started in each of the three ways, read what no workers read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.packs import PackStore, PackWriter
from atom_sdk.readers import LocalDataset, Sample

SAMPLES = 1003
BATCH = 8
STEPS = 4


class _Bytes(bytearray):
    def write(self, data: memoryview) -> None:
        self.extend(data)


def make_dataset(folder: Path) -> None:
    """Write packs and a view below `folder`."""
    entries: list[Entry] = []
    objects, store = MemoryObjectStore(), PackStore(folder)
    for start in range(0, SAMPLES, 250):
        sink = _Bytes()
        with PackWriter(sink) as writer:
            for number in range(start, min(start + 250, SAMPLES)):
                writer.add_bytes(f"{number:05d}.bin", number.to_bytes(4, "big") * (number % 97 + 1))
            summary = writer.close()
        store.fill(summary.digest, [bytes(sink)])
        entries += [
            Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
            for m in summary.members
        ]
    build_view(build_root([entries_table(entries)], objects), objects, folder / "view.arrow")


def number_of(sample: Sample) -> int:
    """The number that a sample holds."""
    return int.from_bytes(sample.data[:4], "big")


def train(folder: Path, rank: int, ranks: int, steps: int, state: str) -> None:
    """Be one rank: print what was read of each epoch, and the position after it.

    Without a state: a whole epoch, then `steps` of the next. With one: the rest of its epoch.
    """
    import torch.utils.data

    from atom_sdk.readers.torch import IterableSamples

    dataset = LocalDataset(folder / "view.arrow", folder / "packs")
    samples = IterableSamples(dataset, number_of, BATCH, ranks=(rank, ranks))
    if state:
        samples.load_state_dict(json.loads(state))
    epochs: list[list[int]] = []
    for epoch, most in [(samples.epoch, SAMPLES)] if state else [(0, SAMPLES), (1, steps)]:
        samples.set_epoch(epoch)
        loader = torch.utils.data.DataLoader(samples, batch_size=BATCH, num_workers=2)
        seen: list[int] = []
        for step, batch in enumerate(loader):
            if step == most:
                break
            seen += batch.tolist()
            samples.step()
        epochs.append(seen)
    print(json.dumps({"epochs": epochs, "state": samples.state_dict()}))


def run(folder: Path, ranks: int, steps: int, state: str = "") -> list[dict[str, Any]]:
    """Run all ranks at once; returns what each printed."""
    command = [sys.executable, "-m", "bench.torch_order", str(folder)]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(ranks), str(steps), state], stdout=subprocess.PIPE
        )
        for rank in range(ranks)
    ]
    return [json.loads(process.communicate()[0]) for process in processes]


def main() -> None:
    """Read, stop, resume, compare."""
    everything = list(range(SAMPLES))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset(folder)
        before = run(folder, 2, STEPS)
        after = run(folder, 3, SAMPLES, json.dumps(before[0]["state"]))
        live_on = persistent(folder)
    once = _sorted(before, 0) == everything
    print(f"2 ranks x 2 workers read each of {SAMPLES} samples once: {once}")
    first, rest = _sorted(before, 1), _sorted(after, 0)
    none = len(first) == 2 * STEPS * BATCH and sorted(first + rest) == everything
    print(f"{len(first)} by 2 ranks, then {len(rest)} by 3: none repeated, none lost: {none}")
    print(f"workers that live on read what no workers read: {live_on}")
    sys.exit(not (once and none and live_on))


# How workers are started, and whether a sampler in the training's process gives them their rows.
LOADERS = (("fork", False), ("spawn", False), ("forkserver", False), ("spawn", True))
State = dict[str, Any]


def orders(folder: Path, state: State, method: str = "", is_map_style: bool = False) -> list[Any]:
    """Read the rest of an epoch, two whole ones, one up to its third batch, and its rest.

    With a method, two workers that live for all of them are started by it.
    """
    from torch.utils.data import DataLoader

    from atom_sdk.readers.epochs import EpochSampler
    from atom_sdk.readers.torch import IterableSamples, TorchDataset

    dataset = LocalDataset(folder / "view.arrow", folder / "packs")
    options: State = {"multiprocessing_context": method, "num_workers": 2} if method else {}
    options |= {"persistent_workers": bool(method), "batch_size": BATCH}
    if is_map_style:
        order: Any = EpochSampler(dataset)
        loader = DataLoader(TorchDataset(dataset, number_of), sampler=order, **options)
    else:
        order = IterableSamples(dataset, number_of, BATCH)
        loader = DataLoader(order, **options)
    order.load_state_dict(state)
    seen = []
    for epoch, most in [(0, SAMPLES), (1, SAMPLES), (2, SAMPLES), (3, 3), (3, SAMPLES)]:
        order.set_epoch(epoch)
        numbers: list[int] = []
        for step, batch in enumerate(loader):
            if step == most:
                break
            numbers += batch.tolist()
            order.step(BATCH) if is_map_style else order.step()
        seen.append(numbers)
    return seen


def persistent(folder: Path) -> bool:
    """Tell whether workers that live on read what no workers read."""
    from atom_sdk.readers.epochs import EpochSampler

    sampler = EpochSampler(LocalDataset(folder / "view.arrow", folder / "packs"))
    sampler.advance(448)
    state = sampler.state_dict()
    right = orders(folder, state)
    whole = [*right[1:3], right[3] + right[4]]
    is_whole = all(sorted(epoch) == list(range(SAMPLES)) for epoch in whole)
    others = [orders(folder, state, method, kind) for method, kind in LOADERS]
    return is_whole and len(right[0]) == SAMPLES - 448 and all(other == right for other in others)


def _sorted(ranks: list[dict[str, Any]], epoch: int) -> list[int]:
    return sorted(number for rank in ranks for number in rank["epochs"][epoch])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        rank, ranks, steps = map(int, sys.argv[2:5])
        train(Path(sys.argv[1]), rank, ranks, steps, sys.argv[5])
    else:
        main()
