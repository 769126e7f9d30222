"""The parts that every command shares: the client, the choice of output, and exit codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from atom_sdk.archive.errors import (
    ArchiveHistoryDiffersError,
    ArchiveMissingError,
    ArchiveNameTakenError,
    ArchiveVersionGoneError,
)
from atom_sdk.cli.advice import ADVICE
from atom_sdk.client import Client
from atom_sdk.client.errors import (
    ApiError,
    CommitCancelledError,
    CommitFailedError,
    MergeConflictError,
    NetworkError,
    NotConfiguredError,
    NotFoundError,
    PushConflictError,
    RefSyntaxError,
)
from atom_sdk.errors import AtomError, EmptyDatasetError, PathError
from atom_sdk.mount.errors import (
    AlreadyMountedError,
    MountBusyError,
    NotMountedError,
    TargetNotEmptyError,
)
from atom_sdk.runner.metric_rows import number

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 3
EXIT_CONFLICT = 4
EXIT_NETWORK = 5
EXIT_CANCELLED = 6
# As of the command `timeout`.
EXIT_TIMED_OUT = 124
EXIT_INTERRUPTED = 130
# As of a program that SIGPIPE ends: neither success nor failure of what was asked.
EXIT_UNREAD = 141

_WIDTH_OF_PIPE = 100_000

_EXIT_BY_STATUS = {
    401: EXIT_NOT_FOUND,
    403: EXIT_NOT_FOUND,
    404: EXIT_NOT_FOUND,
    400: EXIT_USAGE,
    410: EXIT_NOT_FOUND,
    409: EXIT_CONFLICT,
    412: EXIT_CONFLICT,
    # Nothing is known of what was asked about: a script must not take it for a run that failed.
    429: EXIT_NETWORK,
    500: EXIT_NETWORK,
    502: EXIT_NETWORK,
    503: EXIT_NETWORK,
    504: EXIT_NETWORK,
}
_EXIT_BY_KIND: dict[type[Exception], int] = {
    NetworkError: EXIT_NETWORK,
    NotConfiguredError: EXIT_USAGE,
    NotFoundError: EXIT_NOT_FOUND,
    PushConflictError: EXIT_CONFLICT,
    MergeConflictError: EXIT_CONFLICT,
    CommitCancelledError: EXIT_INTERRUPTED,
    ArchiveHistoryDiffersError: EXIT_CONFLICT,
    ArchiveNameTakenError: EXIT_CONFLICT,
    ArchiveMissingError: EXIT_NOT_FOUND,
    ArchiveVersionGoneError: EXIT_NOT_FOUND,
    # The argument cannot name a dataset, or the folder holds nothing to push.
    RefSyntaxError: EXIT_USAGE,
    EmptyDatasetError: EXIT_USAGE,
    PathError: EXIT_USAGE,
    TargetNotEmptyError: EXIT_USAGE,
    NotMountedError: EXIT_NOT_FOUND,
    AlreadyMountedError: EXIT_CONFLICT,
    MountBusyError: EXIT_CONFLICT,
}
# Failures of an operation that a worker found have the exit codes of the same failures at once.
_EXIT_BY_REASON = {
    "edit_impossible": EXIT_USAGE,
    "empty_commit": EXIT_USAGE,
    "entry_not_found": EXIT_NOT_FOUND,
    "files_changed": EXIT_CONFLICT,
    "head_moved": EXIT_CONFLICT,
    "not_in_conflict": EXIT_CONFLICT,
    "nothing_selected": EXIT_NOT_FOUND,
    "path_taken": EXIT_CONFLICT,
    "query_invalid": EXIT_USAGE,
    "ref_not_found": EXIT_NOT_FOUND,
    "split_redraw": EXIT_CONFLICT,
    "version_expired": EXIT_NOT_FOUND,
    "version_gone": EXIT_NOT_FOUND,
    "view_not_found": EXIT_NOT_FOUND,
}


class _Output(Console):
    """A terminal, a file or a pipe; rich itself would end the program as if a run had failed."""

    def on_broken_pipe(self) -> None:
        """Let the command end: nobody reads what it says."""
        raise BrokenPipeError


class Context:
    """The state of one invocation; the options set `project` and `as_json`."""

    def __init__(self) -> None:
        self.project: str | None = None
        self.as_json = False
        # People and programs wrote these texts, so they are shown as they are: `:x:` is no emoji.
        self.out = _Output(highlight=False, soft_wrap=True, emoji=False, width=_width_of_output())
        self.err = _Output(stderr=True, highlight=False, soft_wrap=True, emoji=False)
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """Return the client, made at its first use, so that `--help` needs no server."""
        if self._client is None:
            self._client = Client(project=self.project)
        return self._client

    def close(self) -> None:
        """Close the client's connections, if there was one."""
        if self._client is not None:
            self._client.close()

    def emit(self, value: Any, human: Callable[[Console], None] | None = None) -> None:
        """Print `value` as JSON with `--json`, otherwise by `human`."""
        if self.as_json or human is None:
            sys.stdout.write(_json(value, indent=2) + "\n")
        else:
            human(self.out)

    def emit_line(self, value: Any) -> None:
        """Print `value` as one line of JSON, at once."""
        sys.stdout.write(_json(value) + "\n")
        sys.stdout.flush()


def _json(value: Any, indent: int | None = None) -> str:
    options: dict[str, Any] = {"indent": indent, "default": str, "ensure_ascii": False}
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        # NaN is no JSON; the API has words for it, and so has what reads this.
        return json.dumps(_in_words(value), **options)


def _in_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_words(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_in_words(one) for one in value]
    return number(value) if isinstance(value, float) else value


def _width_of_output() -> int | None:
    """A pipe or a file has no width: each row of a table is one line of it."""
    is_fitted = sys.stdout.isatty() or "COLUMNS" in os.environ
    return None if is_fitted else _WIDTH_OF_PIPE


pass_context = click.make_pass_decorator(Context)


def exit_code_of(error: Exception) -> int:
    """Return the exit code that shows a script the kind of failure."""
    if isinstance(error, ApiError):
        return _EXIT_BY_STATUS.get(error.status, EXIT_FAILED)
    if isinstance(error, CommitFailedError) and error.reason in _EXIT_BY_REASON:
        return _EXIT_BY_REASON[error.reason]
    for kind, code in _EXIT_BY_KIND.items():
        if isinstance(error, kind):
            return code
    # A query that was read here; its parser is loaded only by who has one.
    return EXIT_USAGE if getattr(error, "code", "").startswith("query_") else EXIT_FAILED


def explain(error: AtomError, context: Context) -> None:
    """Say what went wrong and what to do next, on standard error."""
    hint = ADVICE.get(getattr(error, "reason", "") or error.code, error.hint)
    if getattr(error, "status", None) == 401:
        hint = "Make a token in the portal under Access tokens; then run: atom login URL"
    if context.as_json:
        problem = getattr(error, "problem", None) or {"code": error.code, "detail": str(error)}
        print_problem({**problem, "action": hint})
        return
    context.err.print(f"[bold red]error[/]: {_escape(str(error))}")
    for name, messages in getattr(error, "errors", {}).items():
        context.err.print(f"  {_escape(name)}: {_escape(' '.join(messages))}")
    # A failure that a job or a scan keeps may contain the next step already.
    if hint not in str(error):
        context.err.print(f"  [dim]{_escape(hint)}[/]")


def print_problem(problem: dict[str, Any]) -> None:
    """Print a failure as one line of JSON on standard error."""
    sys.stderr.write(json.dumps(problem, default=str, ensure_ascii=False) + "\n")


def _escape(text: str) -> str:
    return text.replace("[", r"\[")
