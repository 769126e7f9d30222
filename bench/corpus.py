"""Files to measure with: sizes like those of real image folders (log-normal, median 30 KB)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

MEDIAN_BYTES = 30_000
SIGMA = 0.75


def write_files(folder: Path, count: int, seed: int = 7) -> int:
    """Write `count` incompressible files in 100 class folders; returns their bytes."""
    generator = np.random.default_rng(seed)
    sizes = np.exp(generator.normal(np.log(MEDIAN_BYTES), SIGMA, count)).astype(np.int64) + 1
    block = generator.bytes(int(sizes.max()) + count)
    for index, size in enumerate(sizes.tolist()):
        path = folder / f"class{index % 100:02d}" / f"{index:07d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        # Every file starts at another byte of one random block: all contents differ.
        path.write_bytes(block[index : index + size])
    return int(sizes.sum())
