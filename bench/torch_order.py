"""Shows with real torch that ranks and workers read every sample once, and resume without repeats.

Not part of the tests, which have no torch: run `python -m bench.torch_order` where torch is
installed. Two processes of two workers each read an epoch; then four steps of it, and the rest with
three processes.
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
    """Be one rank: print what was read, and the position after it."""
    import torch.utils.data

    from atom_sdk.readers.torch import IterableSamples

    dataset = LocalDataset(folder / "view.arrow", folder / "packs")
    samples = IterableSamples(dataset, number_of, BATCH, ranks=(rank, ranks))
    if state:
        samples.load_state_dict(json.loads(state))
    seen: list[int] = []
    loader = torch.utils.data.DataLoader(samples, batch_size=BATCH, num_workers=2)
    for step, batch in enumerate(loader):
        if step == steps:
            break
        seen += batch.tolist()
        samples.step()
    print(json.dumps({"seen": seen, "state": samples.state_dict()}))


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
        whole = run(folder, 2, SAMPLES)
        once = sorted(number for rank in whole for number in rank["seen"]) == everything
        print(f"2 ranks x 2 workers read each of {SAMPLES} samples once: {once}")
        before = run(folder, 2, 4)
        after = run(folder, 3, SAMPLES, json.dumps(before[0]["state"]))
        first = [number for rank in before for number in rank["seen"]]
        rest = [number for rank in after for number in rank["seen"]]
        none = sorted(first + rest) == everything
        print(f"{len(first)} by 2 ranks, then {len(rest)} by 3: none repeated, none lost: {none}")
    sys.exit(not (once and none))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        rank, ranks, steps = map(int, sys.argv[2:5])
        train(Path(sys.argv[1]), rank, ranks, steps, sys.argv[5])
    else:
        main()
