"""Targets of the results, and the table that says whether they are met."""

from __future__ import annotations

from dataclasses import dataclass

from bench.harness import SKIPPED, Result


@dataclass(frozen=True)
class Target:
    """A bound for the ratio to a peer, or for the value itself where there is no peer."""

    bound: float
    at_least: bool = True

    def is_met_by(self, found: float) -> bool:
        """Whether a measure is within the bound."""
        return found >= self.bound if self.at_least else found <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


def _at_most(bound: float) -> Target:
    return Target(bound, at_least=False)


TARGETS: dict[tuple[str, str | None], Target] = {
    ("random read, warm", "ext4"): Target(2.5),
    ("random read, warm", "JuiceFS"): Target(8),
    ("random read, cold", "ext4"): Target(2.4),
    ("random read, cold", "JuiceFS"): Target(15),
    ("folder read, warm", "ext4"): Target(1.0),
    ("folder read, warm", "JuiceFS"): Target(3.5),
    ("folder read, cold", "ext4"): Target(0.9),
    ("folder read, cold", "JuiceFS"): Target(4),
    ("folder walk and stat", "ext4"): Target(1.1),
    ("image of 1,000,000 files", None): _at_most(1),
    ("mount of 4,096 packs", None): _at_most(20),
    ("loader, warm, samples as given", "MosaicML MDS ds[i]"): Target(3.5),
    ("loader, warm, samples as given", "HF ds[i]"): Target(3.5),
    ("loader, warm, samples as given", "WebDataset, shuffle buffer"): Target(10),
    ("loader, warm, samples as given", "Lance, take of 64 rows"): Target(10),
    ("warm-up of packs", "raw S3, to the disk"): Target(0.9),
    ("warm-up of packs", "small objects to files, same client"): Target(8),
    ("transfer of packs, to nothing", "small objects, same client"): Target(8),
    ("hash, pack and index", "tar cf"): Target(0.75),
    ("hash, pack and index", "dvc add"): Target(20),
    ("manifest 10,000,000: diff of 1 % clustered", None): _at_most(10),
    ("manifest 10,000,000: diff of 1 % scattered", None): _at_most(20),
    ("manifest 10,000,000: commit of 1 % clustered writes", None): _at_most(2),
    ("manifest 10,000,000: commit of 1 % scattered writes", None): _at_most(2),
    ("memory of 10,000,000 entries: push, client", None): _at_most(1024),
    ("memory of 10,000,000 entries: push, server", None): _at_most(1024),
    ("memory of 10,000,000 entries: register", None): _at_most(1024),
    ("memory of 10,000,000 entries: diff", None): _at_most(1024),
    ("memory of 10,000,000 entries: garbage collection", None): _at_most(1024),
    ("memory of 10,000,000 entries: push with labels and a split, client", None): _at_most(1024),
    ("memory of 10,000,000 entries: push with labels and a split, server", None): _at_most(1024),
    ("memory of 10,000,000 entries: push onto a parent, client", None): _at_most(1024),
    ("memory of 10,000,000 entries: push onto a parent, server", None): _at_most(1024),
    ("memory of 10,000,000 entries: split by group", None): _at_most(1024),
    ("request for a run to its first log line, median", None): _at_most(2000),
    ("request for a run to its first log line, p95", None): _at_most(2000),
    ("page of 100,000 runs, newest, median", None): _at_most(300),
    ("page of 100,000 runs, of a state, median", None): _at_most(300),
    ("page of 100,000 runs, by a rare tag, median", None): _at_most(300),
    ("page of 100,000 runs, by parameter and metric, median", None): _at_most(300),
    ("page of 100,000 runs, that nothing matches, median", None): _at_most(300),
    ("page of 100,000 runs, by words, median", None): _at_most(300),
    ("page of 100,000 runs, by words that nothing has, median", None): _at_most(300),
    ("page of 100,000 runs, sorted by a metric, median", None): _at_most(300),
    ("page of 100,000 runs, sorted by a parameter, median", None): _at_most(300),
    ("page of 100,000 runs, sorted by CPU hours, median", None): _at_most(300),
    ("sums of 100,000 runs, median", None): _at_most(300),
    ("reconciler and watcher, 1,000 open runs in a cluster", None): _at_most(50),
    ("watcher of a cluster, 10,000 pods, peak memory", None): _at_most(300),
    ("points, MLflow's log-batch to stored", None): Target(50_000),
    ("points, atom_sdk.run.log to stored", None): Target(50_000),
    ("curve of 1,000,000 points, cold, median", None): _at_most(300),
    ("curve of 1,000,000 points, cached, median", None): _at_most(30),
    ("log line to 1,000 WebSockets over 50 runs, p95", None): _at_most(1000),
    ("log line to 1,000 WebSockets over 50 runs, lost", None): _at_most(0),
    ("log line to 1,000 WebSockets over 50 runs, doubled", None): _at_most(0),
    ("100 requests/s for 60 s, all, p95", None): _at_most(300),
    ("100 requests/s for 60 s, failures", None): _at_most(0),
    ("portal, JavaScript of the first page", None): _at_most(260),
    ("portal, styles of the first page", None): _at_most(40),
    ("portal, font of the first page", None): _at_most(50),
    ("portal, largest script of a later page", None): _at_most(80),
    ("portal, first contentful paint", None): _at_most(1000),
    ("portal, largest contentful paint", None): _at_most(1000),
    ("portal over a slow network, worst layout shift of a page", None): _at_most(0.05),
    ("grid of 1,000,000 images, wheel, p95 of frames", None): _at_most(20),
    ("grid of 1,000,000 images, jump, median", None): _at_most(40),
    ("grid of 1,000,000 images, fetches scrolled past that went on", None): _at_most(0),
    ("log of 1,000,000 lines, to the last one on the screen", None): _at_most(500),
    ("log of 1,000,000 lines, slowest of 3 searches", None): _at_most(100),
    ("log of 1,000,000 lines, heap", None): _at_most(150),
    ("log of 1,000,000 lines, following 500 lines/s, p95 of frames", None): _at_most(34),
    ("charts of 5,000,000 points, live, median of frames", None): _at_most(33),
    ("canvas of 500 shapes, pan, p95 of frames", None): _at_most(17),
    ("canvas of 500 shapes, zoom, p95 of frames", None): _at_most(17),
    ("canvas of 500 shapes, drag, p95 of frames", None): _at_most(17),
    ("canvas of 2,000 shapes, pan, p95 of frames", None): _at_most(20),
    ("canvas of 2,000 shapes, zoom, p95 of frames", None): _at_most(20),
    ("canvas of 2,000 shapes, drag, p95 of frames", None): _at_most(20),
    ("canvas of 2,000 shapes, pick, p95", None): _at_most(1),
    ("canvas of 24 megapixels, step of a brush, p95", None): _at_most(33),
    ("labeling, next picture painted after Enter, p95", None): _at_most(100),
    ("labeling, 100 megapixels painted after the tiles were made", None): _at_most(2000),
}


def table(results: list[Result], notes: list[str]) -> str:
    """Return the page of results: Markdown, a line per result and per target without one."""
    lines = [
        "# Benchmarks",
        "",
        "Medians of interleaved rounds in one run; a ratio above 1 means that Atom is better.",
        *notes,
        "",
        "| what | measured | unit | peer | peer's | ratio | target | met | processor |",
        "|---|---:|---|---|---:|---:|---|---|---:|",
        *map(_line, results),
    ]
    measured = {(result.name, result.peer) for result in results}
    lines += [
        f"| {name} | | | {peer or ''} | | | {target} | not measured | |"
        for (name, peer), target in TARGETS.items()
        if (name, peer) not in measured
    ]
    return "\n".join(lines) + "\n"


def _line(result: Result) -> str:
    target = TARGETS.get((result.name, result.peer))
    found = result.ratio if result.peer else result.value
    if result.failure:
        is_skipped = result.failure.startswith(SKIPPED)
        verdict = result.failure if is_skipped else f"failed: {result.failure}"
    elif target is None or found is None:
        verdict = ""
    else:
        verdict = "yes" if target.is_met_by(found) else "**no**"
    cells = (
        result.name,
        _number(result.value),
        result.unit,
        result.peer or "",
        _number(result.peer_value),
        f"{result.ratio:.2f}×" if result.ratio is not None else "",
        str(target or ""),
        verdict,
        _number(result.processor),
    )
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"
