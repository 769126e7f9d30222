"""Rules over measurements: whether a run waited for its data, why, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

# Below this, faster data would hardly make the run shorter.
BOUND_SHARE = 0.10
# See `_is_too_short`.
FEWEST_S = 30
FEWEST_BATCHES = 20
# Above this share of use, the processors that the run holds are its limit.
BUSY_SHARE = 0.85
# One process that decodes keeps about one processor busy.
ONE_PROCESS_CORES = (0.6, 1.3)
# Opening a file costs about as much as reading so many bytes of it.
SMALL_FILE_BYTES = 32 << 10
# A warm node reads from memory; so much from the disk means that it does not.
COLD_BYTES_S = 8 << 20


class FindingCode(StrEnum):
    """Which sentence a finding has, for pages in another language."""

    UNMEASURED = "unmeasured"
    TOO_SHORT = "too_short"
    NOT_BOUND = "not_bound"
    BOUND = "bound"
    TOO_FEW_CPUS = "too_few_cpus"
    SLOW_DECODE = "slow_decode"
    COLD_CACHE = "cold_cache"
    SMALL_FILES = "small_files"
    STREAMED = "streamed"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Measured:
    """Means over a run's last attempt; None where nothing was measured.

    `wait_share` is from 0 to 1, `cores_used` counts whole processors. `measured_s` is the time over
    which waiting was measured, and `batches` how many batches were read in it.
    """

    cpus: int
    wait_share: float | None = None
    cores_used: float | None = None
    disk_read_bytes_s: float | None = None
    mean_file_bytes: float | None = None
    # Whether some of its data came from the object store while it ran.
    is_streamed: bool = False
    measured_s: float = 0.0
    batches: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, what to do about it, and the numbers that both name."""

    code: FindingCode
    text: str
    action: str = ""
    params: Mapping[str, float] = field(default_factory=dict)


def advise(measured: Measured) -> list[Finding]:
    """Return the verdict, then its reasons, the surest first."""
    if measured.wait_share is None:
        action = "Read the batches through atom_sdk.run.track(loader); then the next run is told."
        text = "Nothing measured how long it waited for its data."
        return [Finding(FindingCode.UNMEASURED, text, action)]
    if _is_too_short(measured):
        params = {"seconds": FEWEST_S, "batches": FEWEST_BATCHES}
        text = f"Not enough data: needs {FEWEST_S} s and {FEWEST_BATCHES} batches."
        action = "Let it read for longer, for instance for more epochs, to be told."
        return [Finding(FindingCode.TOO_SHORT, text, action, params)]
    percent = round(100 * measured.wait_share)
    if measured.wait_share < BOUND_SHARE:
        text = f"Its data came in time: it waited {percent} % of the time."
        return [Finding(FindingCode.NOT_BOUND, text, params={"percent": percent})]
    text = f"It was bound by its data: it waited {percent} % of the time."
    verdict = Finding(FindingCode.BOUND, text, params={"percent": percent})
    rules = (_streamed, _too_few_cpus, _slow_decode, _cold_cache, _small_files)
    reasons = [found for rule in rules if (found := rule(measured)) is not None]
    return [verdict, *(reasons or [_unexplained()])]


def _is_too_short(measured: Measured) -> bool:
    """Whether the measures show how a run begins, and not how it goes on.

    The first batch waits for all that happens once: workers start and import their libraries, files
    are opened, nothing was read ahead. That takes some 3 s, which is BOUND_SHARE of FEWEST_S: of a
    shorter run it would be the verdict by itself. A loader that reads ahead gives its first batches
    late together, and one batch of FEWEST_BATCHES is half of BOUND_SHARE. A run that counted no
    batches is judged by the time alone.
    """
    too_few = measured.batches is not None and measured.batches < FEWEST_BATCHES
    return too_few or measured.measured_s < FEWEST_S


def _streamed(measured: Measured) -> Finding | None:
    if not measured.is_streamed:
        return None
    text = "It streamed its data: what it read for the first time came over the network."
    action = "Choose packs if it may start later; a second epoch reads from the disk either way."
    return Finding(FindingCode.STREAMED, text, action)


def _too_few_cpus(measured: Measured) -> Finding | None:
    used = measured.cores_used
    if used is None or used < BUSY_SHARE * measured.cpus:
        return None
    more = measured.cpus * 2
    text = f"Its {measured.cpus} CPUs were busy all the time ({used:.1f} on average)."
    action = f"Run it again with {more} CPUs."
    params = {"cpus": measured.cpus, "used": round(used, 1), "more": more}
    return Finding(FindingCode.TOO_FEW_CPUS, text, action, params)


def _slow_decode(measured: Measured) -> Finding | None:
    used = measured.cores_used
    low, high = ONE_PROCESS_CORES
    if used is None or measured.cpus < 2 or not low <= used <= high:
        return None
    text = f"Only one of its {measured.cpus} CPUs worked: one process decodes all samples."
    action = f"Load with several workers, for instance num_workers={measured.cpus - 1}."
    params = {"cpus": measured.cpus, "workers": measured.cpus - 1}
    return Finding(FindingCode.SLOW_DECODE, text, action, params)


def _cold_cache(measured: Measured) -> Finding | None:
    rate = measured.disk_read_bytes_s
    if rate is None or rate < COLD_BYTES_S:
        return None
    text = f"It read {rate / 1e6:.0f} MB/s from the disk: the data was not in memory."
    action = "Give it more memory, or a part of the data that fits, so that later epochs find it."
    return Finding(FindingCode.COLD_CACHE, text, action, {"mb_s": round(rate / 1e6)})


def _small_files(measured: Measured) -> Finding | None:
    size = measured.mean_file_bytes
    if size is None or size >= SMALL_FILE_BYTES:
        return None
    kib = round(size / 1024, 1)
    text = f"Its files are small ({kib} KiB on average): each costs more than its bytes."
    action = "Read many at once, or store several samples in one file."
    return Finding(FindingCode.SMALL_FILES, text, action, {"kib": kib})


def _unexplained() -> Finding:
    text = "Neither its CPUs, the disk nor the size of its files explains it."
    action = "Profile the loader: locks, the network or a slow transformation may hold it up."
    return Finding(FindingCode.UNEXPLAINED, text, action)
