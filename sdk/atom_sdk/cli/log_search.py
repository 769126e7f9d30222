"""`atom logs --search` and `--errors`: the lines that match, as grep prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from atom_sdk.cli.context import EXIT_FAILED, Context

# Options that say how to search, and mean nothing without a search.
_HOW = ("regex", "case", "context_lines")


def with_searching(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose lines."""
    for option in reversed(
        (
            click.option("--search", metavar="TEXT", help="Only lines that contain TEXT."),
            click.option("--regex", is_flag=True, help="TEXT is a regular expression (RE2)."),
            click.option("--case", is_flag=True, help="Upper and lower case differ."),
            click.option(
                "--errors", is_flag=True, help="Only what reports an error: tracebacks, CUDA, NCCL."
            ),
            click.option(
                "-C",
                "context_lines",
                type=click.IntRange(0, 20),
                default=0,
                help="With so many lines around each.",
            ),
            click.option(
                "--stream",
                type=click.Choice(["stdout", "stderr"]),
                help="Only what the command wrote there.",
            ),
        )
    ):
        command = option(command)
    return command


def wanted_of(options: Mapping[str, Any], follow: bool) -> dict[str, Any]:
    """Return what to ask for, empty for the whole log. Raises UsageError."""
    text, errors = options["search"], options["errors"]
    if text is not None and errors:
        raise click.UsageError("Give --search or --errors, not both.")
    if text is None and not errors:
        if any(options[name] for name in _HOW):
            raise click.UsageError("--regex, --case and -C go with --search or --errors.")
        return {}
    if follow:
        raise click.UsageError("A search looks at what is there: leave --follow out.")
    if text == "":
        raise click.UsageError("Say what to search for.")
    what = {"errors": 1} if errors else {"q": text}
    flags = {name: 1 for name in ("regex", "case") if options[name] and not errors}
    stream = {"stream": options["stream"]} if options["stream"] else {}
    return {**what, **flags, **stream, "context": options["context_lines"]}


def print_matches(context: Context, matches: Iterable[dict[str, Any]]) -> int:
    """Print `number:line` for a match, `number-line` for its neighbours; return the exit code."""
    printed = _Printed()
    found = False
    for match in matches:
        found = True
        if context.as_json:
            context.emit_line(match)
        else:
            printed.add(match)
    printed.rest()
    return 0 if found else EXIT_FAILED


class _Printed:
    """The printed lines: neighbours of two matches may overlap, each line is printed once."""

    def __init__(self) -> None:
        self._last = 0
        self._after: list[dict[str, Any]] = []

    def add(self, match: dict[str, Any]) -> None:
        """Print a match, before it what comes before it."""
        between = {one["line"]: one for one in (*self._after, *match["before"])}
        lines = [one for number, one in sorted(between.items()) if number < match["line"]]
        for line in lines:
            self._print(line, "-")
        self._print(match, ":")
        if match["summary"]:
            click.echo(f"    {match['summary']}")
        self._after = match["after"]

    def rest(self) -> None:
        """Print what comes after the last match."""
        for line in self._after:
            self._print(line, "-")

    def _print(self, line: dict[str, Any], mark: str) -> None:
        if line["line"] <= self._last:
            return
        if self._last and self._after and line["line"] > self._last + 1:
            click.echo("--")
        self._last = line["line"]
        click.echo(f"{line['line']}{mark}{line['text']}")
