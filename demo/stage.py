"""The stage of the demo's acts: a client, a console, the command line and what each step took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from atom_sdk.client import Client
from atom_sdk.client.runs import TERMINAL
from demo.bars import bars
from demo.people import PROJECT, Installation, client_of, token_of

T = TypeVar("T")
Report = Callable[[str, float, str], None]


class Stage:
    """An installation, and the person who acts on it."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.console = Console(highlight=False, soft_wrap=True)
        self.client: Client = client_of(installation, installation.admin, installation.password)
        self.timings_s: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Announce a step and keep its duration."""
        self.console.rule(f"[bold]{name}", align="left")
        started = time.monotonic()
        yield
        self.timings_s[name] = time.monotonic() - started

    def follow(self, work: Callable[[Report], T]) -> T:
        """Show a run's progress while `work` reports it."""
        with bars(self.console, "Nothing to do: this run had succeeded before.") as shown:

            def report(state: str, fraction: float, text: str) -> None:
                if state not in TERMINAL or not shown.is_empty:
                    done = 1.0 if state == "succeeded" else fraction
                    shown.show("run", done, 1.0, f"{state} {text}")

            return work(report)

    def atom(self, *arguments: str, lines: int | None = None) -> None:
        """Run the command line as a user would, and show what was typed."""
        self.console.print(f"[dim]$ atom {' '.join(arguments)}[/]")
        installation = self.installation
        environment = {
            **os.environ,
            "ATOM_URL": installation.url,
            "ATOM_TOKEN": token_of(installation, installation.admin, installation.password),
            "ATOM_PROJECT": PROJECT,
            "ATOM_CACHE": str(installation.home / "demo" / "cache"),
        }
        command = [str(Path(sys.executable).parent / "atom"), *arguments]
        done = subprocess.run(  # our own command
            command, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        shown = done.stdout.splitlines()[:lines]
        self.console.print("\n".join(shown), markup=False)
        if done.returncode != 0:
            raise RuntimeError(f"atom {' '.join(arguments)} exited with {done.returncode}")

    def link(self, name: str, path: str) -> None:
        """Print a page of the portal."""
        joint = "&" if "?" in path else "?"
        self.console.print(f"{name}: {self.installation.url}{path}{joint}project={PROJECT}")

    def version_of(self, dataset: str, message: str) -> dict[str, Any] | None:
        """Return the version that an earlier step or demo made, known by its message."""
        if all(row["name"] != dataset for row in self.client.datasets.list()):
            return None
        made = [one for one in self.client.datasets.log(dataset) if one["message"] == message]
        return made[-1] if made else None
