"""What every command shares: the client, the choice of output, and exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NetworkError, NotConfiguredError
from atom_sdk.errors import AtomError

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 3
EXIT_CONFLICT = 4
EXIT_NETWORK = 5
EXIT_INTERRUPTED = 130

_EXIT_BY_STATUS = {
    401: EXIT_NOT_FOUND,
    403: EXIT_NOT_FOUND,
    404: EXIT_NOT_FOUND,
    400: EXIT_USAGE,
    409: EXIT_CONFLICT,
    412: EXIT_CONFLICT,
}


class Context:
    """The state of one invocation."""

    def __init__(self, project: str | None, as_json: bool) -> None:
        self.project = project
        self.as_json = as_json
        self.out = Console(highlight=False, soft_wrap=True)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """Return the client, made at its first use, so that `--help` needs no server."""
        if self._client is None:
            self._client = Client(project=self.project)
        return self._client

    def emit(self, value: Any, human: Callable[[Console], None] | None = None) -> None:
        """Print `value` as JSON with `--json`, otherwise by `human`."""
        if self.as_json or human is None:
            sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")
        else:
            human(self.out)


pass_context = click.make_pass_decorator(Context)


def exit_code_of(error: Exception) -> int:
    """Return the exit code that tells a script what kind of failure it was."""
    if isinstance(error, NetworkError):
        return EXIT_NETWORK
    if isinstance(error, NotConfiguredError):
        return EXIT_USAGE
    if isinstance(error, ApiError):
        return _EXIT_BY_STATUS.get(error.status, EXIT_FAILED)
    return EXIT_FAILED


def explain(error: AtomError, console: Console, as_json: bool) -> None:
    """Say what went wrong and what to do next, on standard error."""
    if as_json:
        problem = getattr(error, "problem", None) or {
            "code": error.code,
            "detail": str(error),
            "action": error.hint,
        }
        sys.stderr.write(json.dumps(problem, default=str) + "\n")
        return
    console.print(f"[bold red]error[/]: {_escape(str(error))}")
    for name, messages in getattr(error, "errors", {}).items():
        console.print(f"  {_escape(name)}: {_escape(' '.join(messages))}")
    console.print(f"  [dim]{_escape(error.hint)}[/]")


def _escape(text: str) -> str:
    return text.replace("[", r"\[")
