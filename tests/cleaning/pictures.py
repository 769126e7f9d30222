"""Generated images, and the workflow's own code to measure them."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3
from PIL import Image, ImageFilter

import atom.jobs

_CODE = Path(atom.jobs.__file__).parent / "workflows" / "builtin" / "measure_images"


def workflow_module(name: str) -> Any:
    """Import a module of the workflow by its bare name, as its job does."""
    sys.path.insert(0, str(_CODE))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(_CODE))


def photo(seed: int, side: int = 96) -> Image.Image:
    """Return a grey picture with the spectrum of a photograph, other by each seed."""
    rng = np.random.default_rng(seed)
    grid = np.fft.fftfreq(side)
    power = np.hypot(grid[:, None], grid[None, :])
    power[0, 0] = 1
    waves = np.fft.ifft2(np.fft.fft2(rng.normal(size=(side, side))) / power).real
    levels = (waves - waves.mean()) / waves.std() * 45 + 120
    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Return the file of an image."""
    sink = io.BytesIO()
    image.save(sink, kind, **options)
    return sink.getvalue()


def blurred(seed: int, radius: float = 5) -> bytes:
    """Return a picture out of focus."""
    return encoded(photo(seed).filter(ImageFilter.GaussianBlur(radius)))


def dark(seed: int) -> bytes:
    """Return a picture of which even the brightest parts are dark."""
    return encoded(photo(seed).point(lambda level: level // 6))


def troubled_files() -> dict[str, bytes]:
    """Return a dataset with one of everything that a report finds."""
    files = {f"good/{seed}.png": encoded(photo(seed)) for seed in range(6)}
    files["same/0.png"] = files["good/0.png"]
    files["near/1.jpg"] = encoded(photo(1), "JPEG", quality=80)
    files["bad/broken.png"] = files["good/2.png"][:200]
    files["bad/text.png"] = b"no picture"
    files["bad/dark.png"] = dark(20)
    files["bad/blurred.png"] = blurred(21)
    files["bad/tiny.png"] = encoded(photo(22, 16))
    files["notes.txt"] = b"read me"
    return files


def features(files: Mapping[str, bytes]) -> pa.Table:
    """Return what the workflow measures of the images among the files."""
    table, measure = workflow_module("feature_table"), workflow_module("pictures").measure
    images = {path: data for path, data in sorted(files.items()) if not path.endswith(".txt")}
    digests = [blake3(data).digest() for data in images.values()]
    found: pa.Table = table.as_table(list(images), digests, map(measure, images.values()))
    return found


def parquet(table: pa.Table) -> bytes:
    """Return a table as the workflow stores it."""
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink)
    return sink.getvalue()
