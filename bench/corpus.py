"""Files to measure with: sizes like those of real image folders (log-normal, median 30 KB).

Each begins as a JPEG does, so that whoever looks at images finds one; the rest is incompressible.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

MEDIAN_BYTES = 30_000
SIGMA = 0.75

# Without it a push takes a picture for one that was cut off, and labeling leaves it out.
_JPEG_END = b"\xff\xd9"


def write_files(folder: Path, count: int, seed: int = 7) -> int:
    """Write `count` incompressible files in 100 class folders; returns their bytes."""
    generator = np.random.default_rng(seed)
    sizes = np.exp(generator.normal(np.log(MEDIAN_BYTES), SIGMA, count)).astype(np.int64) + 1
    block = generator.bytes(int(sizes.max()) + count)
    head = _jpeg_head()
    for index, size in enumerate(sizes.tolist()):
        path = folder / f"class{index % 100:02d}" / f"{index:07d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        # Every file starts at another byte of one random block: all contents differ.
        body = (head + block[index : index + size])[: max(0, size - len(_JPEG_END))]
        path.write_bytes(body + _JPEG_END[:size])
    return int(sizes.sum())


def _jpeg_head() -> bytes:
    """All of a JPEG up to the data of its pixels."""
    out = io.BytesIO()
    Image.new("RGB", (256, 256)).save(out, "JPEG")
    data = out.getvalue()
    scan = data.index(b"\xff\xda")
    return data[: scan + 2 + int.from_bytes(data[scan + 2 : scan + 4])]
