"""How time and memory grow with the number of files: real ones as far as the disk allows.

Beyond that, the generated manifests that `manifests` measured. A slope of 1 in the plot, whose axes
are logarithmic, is growth in proportion; 0 is none.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from atom_sdk.readers import LocalDataset
from bench.harness import Result, drop_page_cache, say, seconds, with_earlier
from bench.plots import pyplot
from bench.reads import pack_folder

NOTE = "Growth: [growth.md](growth.md)."
REAL_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_FILE_BYTES = 2_000
# A block of the file and one of its pack, and the names of both.
_DISK_BYTES = 9_000
# A size that would take longer than what is left of this is left out.
_MOST_S = 400
_MANIFEST = "manifest "
_KINDS = (
    (1.15, math.inf, "grow faster than the number of files (slope 1.15 or more)"),
    (0.85, 1.15, "grow in proportion to it (0.85 to 1.15): every file is touched once"),
    (
        *(0.15, 0.85),
        "grow more slowly (0.15 to 0.85): a fixed cost is shared by more files, or only "
        "ranges that contain a change are read",
    ),
    (-math.inf, 0.15, "do not grow (below 0.15): what is read depends on a path, not on the files"),
)

Curves = dict[str, dict[int, float]]


def run(scratch: Path, files: int, folder: Path) -> list[Result]:
    """Measure real files, plot both, write the page; sizes go up to twenty times `files`.

    The time of a larger size is estimated from the last one.
    """
    results: list[Result] = []
    started, file_s = time.monotonic(), 0.0
    for size in (size for size in REAL_SIZES if size <= files * 20):
        free, left_s = shutil.disk_usage(scratch).free, started + _MOST_S - time.monotonic()
        if free < 2 * size * _DISK_BYTES or file_s * size > left_s:
            say(f"growth: {size:,} files: {free / 1e9:.0f} GB, {left_s:.0f} s left; left out")
            break
        say(f"growth: {size:,} real files")
        began = time.monotonic()
        results += _real(scratch / str(size), size)
        shutil.rmtree(scratch / str(size))
        file_s = (time.monotonic() - began) / size
    curves = _curves([*with_earlier([], folder / "latest.json"), *results])
    figure = plot(curves, folder / "growth.svg")
    (folder / "growth.md").write_text(page("Growth", figure, curves))
    return results


def _real(folder: Path, size: int) -> list[Result]:
    source = folder / "source"
    write_small_files(source, size)
    index: list[tuple[Path, Path]] = []
    pack_s = seconds(lambda: index.append(pack_folder(source, folder)))
    drop_page_cache([*index[0][1].iterdir(), index[0][0]])
    open_s = seconds(lambda: LocalDataset(*index[0]))
    dataset = LocalDataset(*index[0], verify="never")
    used_s = time.process_time()
    read_s = seconds(lambda: [sample.data[:1] for sample in dataset.iter_shuffled(1, 0)])
    lines = (
        ("pack", pack_s),
        ("open a view", open_s),
        ("read all in random order", read_s),
        # The rest of the time is the disk's: the packs are in no cache.
        ("read all, processor time", time.process_time() - used_s),
    )
    return [Result(f"real files {size:,}: {name}", round(took, 4), "s") for name, took in lines]


def write_small_files(folder: Path, count: int) -> None:
    """Write files of 2 kB, a thousand in a folder, all different."""
    block = np.random.default_rng(3).bytes(_FILE_BYTES)
    for number in range(count):
        if number % 1000 == 0:
            parent = f"{folder}/{number // 1000:06d}"
            os.makedirs(parent)
        with open(f"{parent}/{number:09d}.bin", "wb", 0) as file:
            file.write(number.to_bytes(8, "little") + block[8:])


def _curves(results: list[Result]) -> Curves:
    """Measures by name and number of files, of the lines that name a number."""
    curves: Curves = {}
    for result in results:
        for prefix in (_MANIFEST, "real files "):
            if result.value is None or result.value <= 0 or not result.name.startswith(prefix):
                continue
            number, _, name = result.name.removeprefix(prefix).partition(": ")
            size = int(number.replace(",", ""))
            if size <= 10_000_000 and result.unit in ("s", "ms", "MiB"):
                label = f"{prefix.split()[0]}: {name} ({result.unit})"
                curves.setdefault(label, {})[size] = result.value
    return {label: points for label, points in curves.items() if len(points) > 1}


def slope(points: Mapping[int, float]) -> float:
    """Exponent of growth: least squares through the logarithms."""
    x, y = np.log(list(points)), np.log(list(points.values()))
    return float(np.polyfit(x, y, 1)[0])


def plot(curves: Curves, path: Path, what: str = "files") -> str:
    """Write two panels, time and memory, over the number of files, or of something else.

    Return the line of a page that shows the figure, or says that there is none.
    """
    if (plt := pyplot(path.name)) is None:
        return "There is no figure of this run: matplotlib was not installed."
    figure, (times, memory) = plt.subplots(1, 2, figsize=(11, 6))
    for label, points in curves.items():
        axes = memory if label.endswith("(MiB)") else times
        factor = 1000 if label.endswith("(s)") else 1
        values = [factor * value for value in points.values()]
        style = "--" if label.startswith("real") else "-"
        axes.plot(list(points), values, style, marker="o", label=_legend(label, points))
    for axes, unit in ((times, "ms"), (memory, "MiB")):
        axes.set(xscale="log", yscale="log", xlabel=what, ylabel=unit)
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return f"![time and memory over the number of {what}]({path.name})"


def _legend(label: str, points: Mapping[int, float]) -> str:
    name = label.rsplit(" (", 1)[0]
    return f"{name}, slope {slope(points):.2f}"


def page(title: str, figure: str, curves: Curves, what: str = "files") -> str:
    """Return the page of curves; `figure` is its line from `plot`."""
    text = f"{explanation(curves, what)}\n\n{table_of(curves, what)}"
    return f"# {title}\n\n{figure}\n\n{text}"


def table_of(curves: Curves, what: str = "files") -> str:
    """Return a line per measure: from where to where it was measured, slope, values."""
    lines = [f"| what | {what} | slope | measures |", "|---|---|---:|---|"]
    for label, points in curves.items():
        sizes = f"{min(points):,} to {max(points):,}"
        values = ", ".join(f"{value:,.3g}" for value in points.values())
        lines.append(f"| {label} | {sizes} | {slope(points):.2f} | {values} |")
    return "\n".join(lines) + "\n"


def explanation(curves: Curves, what: str = "files") -> str:
    """Say which measures grow with the files, which more slowly, and which do not."""
    slopes = {label.rsplit(" (", 1)[0]: slope(points) for label, points in curves.items()}
    sentences = []
    for low, high, text in _KINDS:
        names = [f"{name} ({s:.2f})" for name, s in slopes.items() if low <= s < high]
        if names:
            kind = text.replace("file", what.rstrip("s"))
            sentences.append(f"{len(names)} {kind}: {'; '.join(names)}.")
    return (
        "Measures by growth: " + " ".join(sentences) if sentences else "Nothing was measured yet."
    )
