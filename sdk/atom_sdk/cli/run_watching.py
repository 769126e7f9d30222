"""A run that was started: what is said of it, its log, its end as an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console

from atom_sdk.cli.context import (
    EXIT_CANCELLED,
    EXIT_FAILED,
    EXIT_TIMED_OUT,
    Context,
    print_problem,
)
from atom_sdk.cli.log_printing import LinePrinter
from atom_sdk.cli.render import duration_text
from atom_sdk.cli.run_ranks import print_lines

_EXIT_BY_STATE = {"succeeded": 0, "failed": EXIT_FAILED, "cancelled": EXIT_CANCELLED}


def started(context: Context, run: dict[str, Any], options: Mapping[str, Any]) -> int:
    """Say which run began, follow it or wait for it if asked to, and return the exit code."""
    if options["wait"]:
        if not context.as_json:
            context.err.print(f"run {run['number']} ({run['id']})")
        return awaited(context, run["id"], options["wait_s"])
    if not options["follow"]:
        context.emit(
            run,
            lambda out: out.print(f"run {run['number']} ({run['id']}) {run['state']}"),
        )
        return 0
    if not context.as_json:
        context.err.print(f"run {run['number']} ({run['id']})")
    return follow_run(context, run["id"])


def follow_run(
    context: Context,
    run_id: str,
    attempt: int | None = None,
    stream: str | None = None,
    rank: int | None = None,
) -> int:
    """Show the log, or one stream of it, until the run has ended; return its exit code."""
    frames = context.client.runs.frames(
        run_id, follow=True, attempt=attempt, stream=stream, rank=rank
    )
    print_log(context, frames)
    return _followed(context, run_id)


def follow_ranks(
    context: Context, run_id: str, follow: bool, attempt: int | None, stream: str | None
) -> int:
    """Show the lines of all ranks; with `follow` until the run has ended, then its exit code."""
    lines = context.client.runs.merged_lines(run_id, follow=follow, attempt=attempt)
    print_lines(context, (line for line in lines if stream in (None, line["stream"])))
    return _followed(context, run_id) if follow else 0


def _followed(context: Context, run_id: str) -> int:
    """Return the exit code of a run whose log was shown to its end."""
    found = context.client.runs.wait(run_id)
    if context.as_json:
        context.emit_line(found)
    return finish(context, found)


def print_log(context: Context, frames: Iterable[dict[str, Any]]) -> None:
    """Print frames of a log as whole lines, or as lines of JSON."""
    printer = LinePrinter(sys.stdout)
    try:
        for frame in frames:
            if context.as_json:
                context.emit_line(frame)
            else:
                printer.add(frame["stream"], frame["text"])
    finally:
        # Also after Ctrl-C: what was written last is often the reason for it.
        printer.finish()


def awaited(context: Context, run_name: str, timeout_s: float | None) -> int:
    """Wait silently for the end of a run."""
    try:
        found = context.client.runs.wait(run_name, timeout_s)
    except TimeoutError as exc:
        if context.as_json:
            print_problem({"code": "timed_out", "detail": str(exc)})
        else:
            context.err.print(f"{exc}; it goes on", markup=False)
        return EXIT_TIMED_OUT
    if context.as_json:
        context.emit(found)
    return finish(context, found)


def finish(context: Context, found: dict[str, Any]) -> int:
    """Tell people how the run ended, and scripts by the exit code."""
    if not context.as_json:
        _print_end(context.err, found)
    return _EXIT_BY_STATE.get(found["state"], EXIT_FAILED)


def _print_end(err: Console, found: dict[str, Any]) -> None:
    err.print(f"run {found['number']} {found['state']} after {duration_text(found['duration_s'])}")
    if found["state"] == "failed":
        err.print(f"{found['failure_class']}: {found['failure_reason']}", markup=False)
        if found.get("suggestion"):
            err.print(found["suggestion"], markup=False)
