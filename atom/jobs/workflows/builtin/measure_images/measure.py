"""Measures the images of a version that were not measured before."""

from __future__ import annotations

import mimetypes
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
from feature_table import (  # type: ignore[import-not-found]
    SCHEMA,
    as_table,
    read_known,
    taken_over,
    write,
)
from pictures import Measured, measure  # type: ignore[import-not-found]

from atom_sdk import run
from atom_sdk.amounts import counted

# Drawings in text form; Pillow does not read them and nobody expects it to.
_NOT_RASTER = "image/svg+xml"
_AHEAD = 64
_TELL_EVERY = 200


def main() -> None:
    """Write `features.parquet`: every image of the version, measured now or before."""
    samples = run.dataset("dataset")
    folder = os.environ.get("ATOM_INPUT_DIR")
    table = features_of(samples, read_known(Path(folder) if folder else None))
    write(table, run.output_dir())
    unreadable = len(table) - table.column("unreadable").null_count
    run.progress(1.0, f"{counted(len(table), 'image')}, {unreadable} unreadable")


def features_of(samples: Any, known: pa.Table) -> pa.Table:
    """Return a row per image of a view of `atom_sdk.run.dataset`; only unknown ones are read."""
    index = samples.dataset.index
    rows = [row for row in samples.rows.tolist() if is_image(index.path_of(row))]
    paths = [index.path_of(row) for row in rows]
    digests = [index.digest_of(row) for row in rows]
    before = taken_over(paths, digests, known)
    done = set(before.column("digest").to_pylist())
    new = [place for place, digest in enumerate(digests) if digest not in done]
    print(
        f"{counted(len(rows), 'image')}: {len(before)} measured before, {len(new)} new.", flush=True
    )
    measured = list(_with_progress(_measure_all(samples, [rows[place] for place in new]), len(new)))
    made = as_table([paths[place] for place in new], [digests[place] for place in new], measured)
    return pa.concat_tables([before, made]).sort_by("path").cast(SCHEMA)


def is_image(path: str) -> bool:
    """Tell by its name whether a file should be a raster image, as a push does."""
    kind = mimetypes.guess_type(path, strict=False)[0] or ""
    return kind.startswith("image/") and kind != _NOT_RASTER


def _measure_all(samples: Any, rows: list[int]) -> Iterator[Measured]:
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)), "measure") as pool:
        waiting: deque[Future[Measured]] = deque()
        for sample in samples.dataset.read_many(rows):
            waiting.append(pool.submit(measure, sample.data))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _with_progress(measured: Iterator[Measured], total: int) -> Iterator[Measured]:
    for number, one in enumerate(measured, 1):
        if number % _TELL_EVERY == 0:
            run.progress(number / total, f"{number} of {counted(total, 'image')}")
        yield one


if __name__ == "__main__":
    main()
