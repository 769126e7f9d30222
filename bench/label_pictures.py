"""`python -m bench.label_pictures`: tiles of large pictures, and labels between formats.

Each step runs in a process of its own, whose peak memory is its own. Pictures have the smooth
shapes and the noise of a camera: bytes that compress as little as those of photographs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyvips

from atom.datasets.pyramids.engines.cutting import cut_picture
from atom_sdk.label_formats.converting import LabelFolders, convert
from atom_sdk.label_formats.formats import NAMES
from atom_sdk.label_formats.interface import ReadChoices, WriteChoices
from bench.harness import RESULTS, peak_mib, processor_speed, say

BOXES = 10
_WIDTH, _HEIGHT, _CLASSES = 1920, 1080, 80
# (name, width, height in pixels)
PICTURES = (
    ("100 megapixels, JPEG", "jpg", 12_500, 8_000),
    ("100 megapixels, PNG", "png", 12_500, 8_000),
    ("250 megapixels, JPEG", "jpg", 20_000, 12_500),
)
_SAMPLE_S = 0.02


def photograph(path: Path, width: int, height: int) -> None:
    """Write a picture of smooth colours with noise of 9 levels of 255."""
    ramp = pyvips.Image.xyz(width, height)
    waves = [
        ((ramp[0] / period).sin() * (ramp[1] / (period * 0.7)).cos()) * 100 + 128
        for period in (3.1, 4.3, 5.9)
    ]
    noise = [pyvips.Image.gaussnoise(width, height, sigma=9, seed=seed) for seed in range(3)]
    bands = [wave + grain for wave, grain in zip(waves, noise, strict=True)]
    picture = bands[0].bandjoin(bands[1:]).cast("uchar").copy(interpretation="srgb")
    options = {"Q": 92} if path.suffix == ".jpg" else {"compression": 6}
    picture.write_to_file(str(path), **options)


@contextmanager
def _children_peak() -> Iterator[list[float]]:
    """Yield a list that ends with the largest memory (MiB) that one child held meanwhile."""
    peak, stop = [0.0], threading.Event()

    def sample() -> None:
        tasks = Path(f"/proc/{os.getpid()}/task")
        while not stop.wait(_SAMPLE_S):
            for children in tasks.glob("*/children"):
                for pid in children.read_text().split():
                    peak[0] = max(peak[0], _high_water(pid))

    watcher = threading.Thread(target=sample)
    watcher.start()
    try:
        yield peak
    finally:
        stop.set()
        watcher.join()


def _high_water(pid: str) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(next(lines, "0")) / 1024


def cut(ending: str, width: int, height: int, rounds: int) -> dict[str, Any]:
    """Cut one picture some times; returns seconds of each, and the worker's peak in MiB."""
    with tempfile.TemporaryDirectory(prefix="bench-tiles-") as folder:
        source = Path(folder) / f"picture.{ending}"
        photograph(source, width, height)
        times = []
        with _children_peak() as peak:
            for number in range(rounds):
                target = Path(folder) / f"{number}.zip"
                began = time.perf_counter()
                made = cut_picture(source, target, lambda _percent: None)
                times.append(time.perf_counter() - began)
                if made.facts is None:
                    raise RuntimeError(f"no tiles: {made.reason}")
                target.unlink()
        return {"seconds": times, "mib": peak[0], "bytes": source.stat().st_size}


def write_coco(path: Path, pictures: int) -> None:
    """Write boxes as COCO has them, picture by picture, without holding them."""
    random = np.random.default_rng(7)
    classes = [{"id": number + 1, "name": f"class {number}"} for number in range(_CLASSES)]
    with path.open("w") as out:
        out.write(f'{{"categories": {json.dumps(classes)}, "images": [')
        for number in range(pictures):
            image = {"id": number, "file_name": f"{number:08}.jpg"}
            image |= {"width": _WIDTH, "height": _HEIGHT}
            out.write(("," if number else "") + json.dumps(image))
        out.write('], "annotations": [')
        for number in range(pictures):
            corners = random.random((BOXES, 4)) * [_WIDTH / 2, _HEIGHT / 2, 400, 300] + 1
            labels = random.integers(1, _CLASSES + 1, size=BOXES).tolist()
            for place, (label, box) in enumerate(zip(labels, corners.tolist(), strict=True)):
                row = {"id": number * BOXES + place, "image_id": number, "category_id": label}
                row |= {"bbox": box, "iscrowd": 0, "area": box[2] * box[3]}
                out.write(("," if number or place else "") + json.dumps(row))
        out.write("]}")


def exchange(source: str, source_format: str, target_format: str, target: str) -> dict[str, Any]:
    """Convert labels in this process; returns seconds, objects and the peak in MiB."""
    began = time.perf_counter()
    done = convert(
        LabelFolders(Path(source)),
        source_format,
        target_format,
        Path(target),
        ReadChoices(),
        WriteChoices(),
    )
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "objects": sum(done.written.objects.values()), "mib": peak_mib()}


def _apart(*step: str) -> dict[str, Any]:
    """Run one step in a process of its own."""
    command = [sys.executable, "-m", "bench.label_pictures", "--step", json.dumps(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def tiles_page(rounds: int) -> list[str]:
    """Return the table of tiles."""
    lines = [
        "| picture | file | seconds, median | least and most | worker's peak |",
        "|---|---|---|---|---|",
    ]
    for name, ending, width, height in PICTURES:
        row = _apart("cut", ending, str(width), str(height), str(rounds))
        times = sorted(row["seconds"])
        say(f"tiles: {name}: {times}, {row['mib']:.0f} MiB")
        lines.append(
            f"| {name} | {row['bytes'] / 1e6:,.0f} MB | {times[len(times) // 2]:.1f} "
            f"| {times[0]:.1f} – {times[-1]:.1f} | {row['mib']:,.0f} MiB |"
        )
    return lines


def exchange_page(sizes: tuple[int, ...]) -> list[str]:
    """Return the table of formats: COCO read, and each format written."""
    lines = [
        "| way | boxes | objects a second | peak memory |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="bench-labels-") as folder:
        for pictures in sizes:
            source = Path(folder) / str(pictures)
            source.mkdir()
            write_coco(source / "instances.json", pictures)
            for name in NAMES:
                with tempfile.TemporaryDirectory(dir=folder) as scratch:
                    target = str(Path(scratch) / name)
                    row = _apart("exchange", str(source), "coco", name, target)
                rate = row["objects"] / row["seconds"]
                say(f"coco to {name}: {row}")
                lines.append(
                    f"| COCO → {name} | {row['objects']:,} | {rate:,.0f} | {row['mib']:,.0f} MiB |"
                )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--step", type=json.loads, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, *arguments = options.step
        if name == "cut":
            ending, *numbers = arguments
            print(json.dumps(cut(ending, *map(int, numbers))))
        else:
            print(json.dumps(exchange(*arguments)))
        return
    before = processor_speed()
    parts = ["## Tiles", "", *tiles_page(options.rounds), "", "## Labels between formats", ""]
    parts += exchange_page(tuple(options.pictures))
    speed = min(before, processor_speed())
    head = [
        "# Pictures and labels",
        "",
        f"Processor {speed} million additions a second; `python -m bench.label_pictures`.",
        f"Pictures with labels have {BOXES} boxes of {_CLASSES} classes.",
        "",
    ]
    (RESULTS / "label-pictures.md").write_text("\n".join(head + parts) + "\n")


if __name__ == "__main__":
    main()
