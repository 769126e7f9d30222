"""One plot of all ratios, with the demanded ones marked; figures need matplotlib."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.harness import Result, say
from bench.targets import TARGETS


def pyplot(file_name: str) -> Any:
    """Return matplotlib's `pyplot`, which writes SVG; None without matplotlib, and say so.

    `file_name` is that of the figure that is to be written.
    """
    if find_spec("matplotlib") is None:
        say(f"{file_name} is not drawn: matplotlib is not installed; make bench installs it")
        return None
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    return plt


def plot(results: list[Result], folder: Path) -> None:
    """Write `ratios.svg`: a bar per peer on a logarithmic axis, 1 being equal."""
    rows = [result for result in results if result.ratio is not None]
    if not rows or (plt := pyplot("ratios.svg")) is None:
        return
    names = [f"{row.name}\nagainst {row.peer}" for row in rows]
    figure, axes = plt.subplots(figsize=(8, 0.6 * len(rows) + 1.2))
    axes.barh(names, [row.ratio or 0 for row in rows], color="#5559e7")
    for index, row in enumerate(rows):
        axes.text(row.ratio or 0, index, f" {row.ratio:.2f}×", va="center")
        if (target := TARGETS.get((row.name, row.peer))) is not None:
            axes.plot([target.bound] * 2, [index - 0.4, index + 0.4], color="#c92a2a", lw=2)
    axes.axvline(1, color="#868e96", lw=1)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as the peer (red: demanded)")
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(folder / "ratios.svg", metadata={"Date": None})
    plt.close(figure)
