"""Why an attempt ended: one class, one plain sentence, the evidence and what to do next."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from atom.jobs.failures.engines.failure_codes import (
    BAD_DATA,
    COMMAND_NOT_FOUND,
    DATA_WARMUP,
    DEADLINE,
    GANG_INCOMPLETE,
    MOVED,
    NODE_DISK,
    NODE_LOST,
    OOM_HOST,
    PREEMPTED,
    PREPARATION,
    RUNNER_LOST,
    RUNTIME_BUILD,
    USER_CODE,
    FailureCode,
)
from atom.jobs.failures.engines.known_failures import known_failure
from atom_sdk.runner import out_of_memory

_TRACEBACK: Final = "Traceback (most recent call last):"

ExitReason = Literal[
    "exited", "oom", "timeout", "cancelled", "not_found", "runner_lost", "preempted"
]


@dataclass(frozen=True, slots=True)
class ExitReport:
    """The runner's report about the end of the command."""

    reason: ExitReason
    exit_code: int | None = None
    signal: int | None = None
    tail: str = ""
    traceback: str = ""
    # "preparation": the command was never started.
    stage: str = ""
    # The disk's error when the runner wrote to the attempt's folder at the end: a key of _DISK.
    disk: str = ""
    # The reason that the command itself gave: code and params, as the runner found them.
    declared: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the attempt, which sentences name."""

    memory_bytes: int
    timeout_s: int | None
    command: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as people read it; `params` are what its sentence names."""

    failure_class: str
    reason: str
    suggestion: str
    code: FailureCode
    params: dict[str, str | int | float | None] = field(default_factory=dict)


def classify(report: ExitReport, limits: Limits) -> Failure | None:
    """Return why the attempt failed, None if it succeeded or was cancelled."""
    if report.reason == "cancelled":
        return None
    if report.reason in _BY_REASON:
        return _BY_REASON[report.reason]()
    if report.reason == "timeout":
        return _deadline(limits)
    if report.reason == "oom" or out_of_memory.is_of_host(_error_of(report.traceback)):
        return _out_of_memory(limits)
    if report.reason == "not_found":
        return _not_found(limits)
    if disk := _disk_of(report):
        return _disk_refused(disk, report)
    if report.stage == "preparation":
        return _not_prepared(report)
    return _declared(report) or _exited(report)


def _declared(report: ExitReport) -> Failure | None:
    """Return the failure that the command named; None if it ended well or named none we know."""
    if not report.declared or report.exit_code in (0, None):
        return None
    return known(str(report.declared.get("code")), report.declared.get("params"))


def known(code: str, params: object) -> Failure | None:
    """Return the failure of a code that workflows declare; None if code or params do not fit."""
    text = known_failure(code, params)
    if text is None:
        return None
    return Failure(
        text.failure_class, text.reason, text.suggestion, FailureCode(code), dict(text.params)
    )


def _out_of_memory(limits: Limits) -> Failure:
    gib = limits.memory_bytes / 2**30
    enough_gib = max(1, round(gib * 2))
    return Failure(
        OOM_HOST,
        f"The job needed more memory than its limit of {gib:.1f} GiB and was stopped.",
        f"Give it more memory (for example {enough_gib} GiB), or use a smaller batch "
        "size or fewer data-loading workers.",
        FailureCode.OUT_OF_MEMORY,
        {"memory_bytes": limits.memory_bytes, "enough_bytes": enough_gib << 30},
    )


def _deadline(limits: Limits) -> Failure:
    limit = f"{limits.timeout_s} s" if limits.timeout_s else "its time limit"
    return Failure(
        DEADLINE,
        f"The job was still running after {limit} and was stopped.",
        "Raise the time limit; a retry goes on from the last saved checkpoint.",
        FailureCode.DEADLINE,
        {"timeout_s": limits.timeout_s},
    )


def _not_found(limits: Limits) -> Failure:
    command = limits.command[0] if limits.command else ""
    return Failure(
        COMMAND_NOT_FOUND,
        f"The command '{command}' does not exist in the job's environment, or may not be executed.",
        "Check its spelling; add the package that brings it to the requirements, or the file to "
        "the code that you send.",
        FailureCode.COMMAND_NOT_FOUND,
        {"command": command},
    )


# Faults of the disk that the runner reports: code, name in the sentence, and remedy.
_DISK: Final = {
    "full": (FailureCode.DISK_FULL, "full", "Have room made on it"),
    "read_only": (FailureCode.DISK_READ_ONLY, "read-only", "Have it mounted for writing again"),
    "failing": (FailureCode.DISK_FAILING, "failing", "Have it looked at"),
}
# A command may fail for lack of room though the few bytes of the runner had enough.
_NO_ROOM: Final = ("OSError: [Errno 28]", "OSError: [Errno 122]")


def _disk_of(report: ExitReport) -> str:
    """Return what the disk did to a command that failed; "" if it had no part in it."""
    if report.exit_code in (0, None) and not report.signal:
        return ""
    if report.disk in _DISK:
        return report.disk
    return "full" if _error_of(report.traceback).startswith(_NO_ROOM) else ""


def _disk_refused(disk: str, report: ExitReport) -> Failure:
    code, what, mends = _DISK[disk]
    said = (_error_of(report.traceback) or report.tail.strip().rsplit("\n", 1)[-1])[:300]
    return Failure(
        NODE_DISK,
        f"The disk of the machine was {what} when the job ended: {said}",
        f"{mends}, then retry the run: it goes on from its last saved checkpoint.",
        code,
        {"said": said},
    )


def _not_prepared(report: ExitReport) -> Failure:
    said = (report.traceback.strip() or "the runner did not say why")[:500]
    return Failure(
        PREPARATION,
        "The code, the input files or the checkpoint of the job could not be brought to the "
        f"machine, so its command was not started: {said}",
        "Retry the run: a storage that was away for a while is the usual cause. If it fails in the "
        "same way again, send the code once more, or start from another checkpoint or model.",
        FailureCode.NOT_PREPARED,
        {"said": said},
    )


def _exited(report: ExitReport) -> Failure | None:
    if report.signal:
        name = _signal_name(report.signal)
        return Failure(
            USER_CODE,
            f"The command was ended by the signal {name}.",
            "Look at the end of its log; a crash in native code leaves no Python traceback.",
            FailureCode.SIGNALLED,
            {"signal": name},
        )
    if report.exit_code in (0, None):
        return None
    error = _error_of(report.traceback)[:300]
    said = f": {error}" if error else "."
    return Failure(
        USER_CODE,
        f"The command ended with exit code {report.exit_code}{said}",
        "Read the traceback and the end of the log, correct the code or the parameters, and start "
        "the run again.",
        FailureCode.EXITED_WITH_ERROR if error else FailureCode.EXITED,
        {"exit_code": report.exit_code, **({"error": error} if error else {})},
    )


def _error_of(traceback: str) -> str:
    """Return the line that names the exception: the first behind the frames of the last traceback.

    A message may have more lines. If the first only announces them, the next line is added.
    """
    _, header, last = traceback.rpartition(_TRACEBACK)
    if not header:
        return traceback.strip().rsplit("\n", 1)[-1].strip()
    lines = [line for line in last.split("\n")[1:] if line.strip()]
    at = next((at for at, line in enumerate(lines) if not line.startswith(" ")), len(lines))
    told = 2 if lines[at : at + 1] and lines[at].rstrip().endswith(":") else 1
    return " ".join(line.strip() for line in lines[at : at + told])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def launch_failed(said: str) -> Failure:
    """Return the failure of an attempt whose supervisor would not start."""
    return Failure(
        RUNNER_LOST,
        f"The job's supervisor could not be started: {said}",
        "Look at the worker's log; the run starts again by itself while it has retries left.",
        FailureCode.NOT_LAUNCHED,
        {"said": said},
    )


def secrets_missing(said: str) -> Failure:
    """Return the failure of a run that names a secret which is gone, or cannot be read."""
    return Failure(
        PREPARATION,
        f"The run cannot be given a secret that it asks for: {said}",
        "Set the secret again, then retry the run.",
        FailureCode.SECRETS_MISSING,
        {"said": said},
    )


def nothing_selected(said: str, dataset: str, split: str = "") -> Failure:
    """Return the failure of a run whose selector leaves no sample of a dataset.

    With `split`, nothing but the split left no sample; `said` is the selection's own sentence.
    """
    params = {"dataset": dataset, "split": split}
    if split and (failure := known(FailureCode.SPLIT_EMPTY, params)):
        return failure
    return Failure(
        BAD_DATA,
        f"No file of {dataset} matches the query, the view and the split of the run.",
        "Change the query, the view or the split, or choose another version.",
        FailureCode.NOTHING_SELECTED,
        {"dataset": dataset, "said": said},
    )


def not_mounted(said: str) -> Failure:
    """Return the failure of a run for which a dataset could not be shown as a folder."""
    return Failure(
        DATA_WARMUP,
        f"A dataset could not be mounted: {said}",
        "Read it with the SDK instead: start the run again with its data as packs.",
        FailureCode.NOT_MOUNTED,
        {"said": said},
    )


def runner_lost() -> Failure:
    """Return the failure of an attempt whose supervisor is gone."""
    return Failure(
        RUNNER_LOST,
        "The process that supervised the job is gone, so its end could not be observed.",
        "Nothing to correct: the run starts again by itself while it has retries left, from its "
        "last saved checkpoint.",
        FailureCode.RUNNER_LOST,
    )


def deadline(timeout_s: int | None) -> Failure:
    """Return the failure of an attempt that outlived its time limit."""
    return _deadline(Limits(0, timeout_s))


def node_lost(node: str) -> Failure:
    """Return the failure of an attempt whose machine is gone."""
    return Failure(
        NODE_LOST,
        f"The machine {node} stopped answering while the job ran.",
        "Nothing to correct: the run starts again by itself on another machine.",
        FailureCode.NODE_LOST,
        {"node": node},
    )


def machines_lost(count: int) -> Failure:
    """Return the failure of a run that lost so many machines in a row, and got no further."""
    return Failure(
        NODE_LOST,
        f"Machines lost in a row: {count}. None of these attempts stored a new checkpoint. The job "
        "itself may bring its machines down, so it is not started again.",
        "Look at the memory, the disk and the devices that the job uses, and at the machines. When "
        "the cause is gone, retry the run. Checkpoints that it stores more often keep it going.",
        FailureCode.MACHINES_LOST,
        {"count": count},
    )


# The words of a runner for it; the cluster's own come from what it says about the pod.
_TOLD_TO_END = "its pod was told to end."


def preempted() -> Failure:
    """Return the failure of an attempt whose machine the cluster took away."""
    return Failure(
        PREEMPTED,
        f"The cluster stopped the job to make room: {_TOLD_TO_END}",
        "Nothing to correct: the run starts again by itself, from its last saved checkpoint.",
        FailureCode.PREEMPTED,
        {"said": _TOLD_TO_END},
    )


def moved(cluster: str) -> Failure:
    """Return the end of an attempt whose run a person moved to another cluster."""
    return Failure(
        MOVED,
        f"The run was moved to the cluster {cluster}.",
        "Nothing to correct: the run goes on there, from its last saved checkpoint.",
        FailureCode.MOVED,
        {"cluster": cluster},
    )


def gang_incomplete(joined: int, nodes: int, waited_s: int) -> Failure:
    """Return the end of an attempt whose run got a part of its nodes, and gave them back."""
    return Failure(
        GANG_INCOMPLETE,
        f"The cluster had {joined} of the {nodes} nodes that the run needs at once, after "
        f"{waited_s} s.",
        "Nothing to correct: the nodes are given back, and the run waits for its next turn. Ask "
        "for fewer nodes to start sooner.",
        FailureCode.GANG_INCOMPLETE,
        {"joined": joined, "nodes": nodes, "waited_s": waited_s},
    )


def data_warmup(dataset: str, error: str) -> Failure:
    """Return the failure of an attempt whose data could not be brought to the node."""
    return Failure(
        DATA_WARMUP,
        f"The data of {dataset} could not be brought to the machine: {error}",
        "Look at the dataset's cache page; when the cause is gone, retry the run.",
        FailureCode.DATA_WARMUP,
        {"dataset": dataset, "error": error},
    )


def runtime_build(last_lines: str) -> Failure:
    """Return the failure of an attempt whose environment could not be built."""
    said = last_lines.strip()
    return Failure(
        RUNTIME_BUILD,
        "The job's Python environment could not be built. pip said:\n" + said,
        "Correct the requirements (names, versions, Python version) and start the run again.",
        FailureCode.RUNTIME_BUILD,
        {"said": said},
    )


_BY_REASON = {"runner_lost": runner_lost, "preempted": preempted}
