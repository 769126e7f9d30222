"""`python -m bench.placement`: the choice of places for many queued runs at once.

10,000 runs read one to three of 1,000 versions, which 1,000 nodes in 50 places hold in part. It
measures the engine: the data of the best node of each place, the costs, and the choice.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from atom.jobs.scheduling.engines.cost import Floats, ManyRuns, choose_many
from bench.harness import RESULTS, peak_mib, processor_speed

RUNS, NODES, PLACES, VERSIONS, ROUNDS = 10_000, 1_000, 50, 1_000, 5
_GB = 1e9
_MOST_INPUTS = 3


def there_bytes(held: Floats, inputs: Floats) -> Floats:
    """Return bytes of shape (runs, places): those of the place's node with the most data.

    `held` has bytes of shape (nodes, versions), `inputs` ones of shape (runs, versions).
    """
    on_nodes: Floats = inputs @ held.T
    by_place: Floats = on_nodes.reshape(RUNS, PLACES, NODES // PLACES).max(axis=2)
    return by_place


def measure() -> list[float]:
    """Return the seconds of each round."""
    random = np.random.default_rng(7)
    sizes = random.uniform(1, 800, VERSIONS) * _GB
    parts = random.random((NODES, VERSIONS)) * (random.random((NODES, VERSIONS)) < 0.05)
    inputs = np.zeros((RUNS, VERSIONS))
    for column in random.integers(VERSIONS, size=(_MOST_INPUTS, RUNS)):
        inputs[np.arange(RUNS), column] = 1.0
    gpus = random.integers(0, 9, RUNS).astype(np.float64)
    fits = random.random((RUNS, PLACES)) < 0.9
    prices = np.round(random.uniform(1, 4, PLACES), 2)
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        runs = ManyRuns(
            gpus=gpus,
            run_s=np.full(RUNS, 3600.0),
            value_per_hour=np.full(RUNS, 30.0),
            total_bytes=inputs @ sizes,
            there_bytes=there_bytes(parts * sizes, inputs),
            moving_bytes=np.zeros(PLACES),
            price_per_hour=prices,
            queue_s=np.full(PLACES, 120.0),
            image_s=np.full(PLACES, 60.0),
            bandwidth=np.full(PLACES, _GB),
            egress_per_byte=np.full(PLACES, 0.02 / _GB),
            fragmentation=np.zeros(PLACES),
            fits=fits,
        )
        chosen = choose_many(runs)
        times.append(time.perf_counter() - began)
        if (chosen < 0).any():
            raise RuntimeError("a run has no place")
    return times


def main() -> None:
    times = sorted(measure())
    page = (
        "# Placement\n\n"
        f"{RUNS:,} queued runs over {NODES:,} nodes in {PLACES} places and {VERSIONS:,} "
        f"versions: the\ndecision takes {statistics.median(times):.2f} s "
        f"(median of {ROUNDS}; {times[0]:.2f} to {times[-1]:.2f} s) and {peak_mib():,.0f} MiB.\n"
        f"Processor {processor_speed()} million additions a second; "
        "`python -m bench.placement`. It\nreads and writes no rows.\n"
    )
    (RESULTS / "placement.md").write_text(page)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
