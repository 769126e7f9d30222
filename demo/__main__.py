"""`python -m demo`: the main job against a running stack, with visible progress and a summary.

Every step looks at what is there first, so running it again only shows the result.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from atom.dev.commands import running_state
from atom.dev.config import Installation as Stack
from atom.dev.secret_store import load_or_generate
from atom_sdk.client import Client
from atom_sdk.client.runs import TERMINAL
from atom_sdk.errors import AtomError
from demo.bars import bars
from demo.images import UNLABELLED, Digits, change_some, write_digits
from demo.labeling import TASK, label_and_publish
from demo.people import PROJECT, Installation, client_of, labeling_team, token_of
from demo.training import MODEL, evaluate, registered_version, train

DATASET = "digits"
# Versions are known again by their messages.
PUSHED = "5,000 digits"
CHANGED = "50 digits re-centred"
LABELLED = f"Labels of {TASK}"
TEST_IMAGES = 1000
MINIMUM_ACCURACY = 0.95


class Demo:
    """The steps, and what each of them took."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.console = Console(highlight=False, soft_wrap=True)
        self.client: Client = client_of(installation, installation.admin, installation.password)
        self.timings_s: dict[str, float] = {}
        self.facts: dict[str, Any] = {}

    def run(self) -> None:
        """Carry out the main job. Raises RuntimeError with the step's reason."""
        with self.step("images"):
            digits = write_digits(self.installation.home / "demo")
        with self.step("dataset versions"):
            self._versions(digits)
        with self.step("labeling"):
            self._label(digits)
        with self.step("training"):
            self._train()
        with self.step("evaluation"):
            self._evaluate()
        self._summary()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Announce a step and keep its duration."""
        self.console.rule(f"[bold]{name}", align="left")
        started = time.monotonic()
        yield
        self.timings_s[name] = time.monotonic() - started

    def _versions(self, digits: Digits) -> None:
        if self._version_of(PUSHED) is None:
            split = ["--split", f"test={TEST_IMAGES}", "--seed", "7"]
            labels = ["--labels", "folder", "--unlabelled", UNLABELLED]
            self.push(digits, "-m", PUSHED, *labels, *split)
        if self._version_of(CHANGED) is None:
            change_some(digits)
            self.push(digits, "-m", CHANGED)
        newest = next(self.client.datasets.log(DATASET))
        if newest["message"] in {PUSHED, CHANGED, LABELLED}:
            self.push(digits)
        else:
            # Pushing the folder again would take back what people have changed.
            self.console.print(f"{DATASET} has gone on to {newest['ref']}; nothing was sent.")
        self.facts["changed"] = self._version_of(CHANGED)
        pushed = f"{DATASET}@{self._version_of(PUSHED)}"
        self.atom("data", "diff", pushed, self._ref("changed"), lines=1)

    def _version_of(self, message: str) -> str | None:
        """Return the version that an earlier step or demo made, known by its message."""
        if all(row["name"] != DATASET for row in self.client.datasets.list()):
            return None
        made = [v["ref"] for v in self.client.datasets.log(DATASET) if v["message"] == message]
        return str(made[-1]) if made else None

    def _ref(self, fact: str) -> str:
        return f"{DATASET}@{self.facts[fact]}"

    def _label(self, digits: Digits) -> None:
        team = partial(labeling_team, self.installation)
        with bars(self.console, "Nothing to do: it was labelled and audited before.") as shown:
            dataset = self._ref("changed")
            task = label_and_publish(self.client, team, dataset, digits.truth, shown.show)
        self.facts["version"] = task["output_version"]["ref"]
        self.console.print(
            f"{task['progress']['published']} items labelled, {task['corrected']} returned by the "
            f"audit and corrected, published as {self._ref('version')}"
        )

    def _train(self) -> None:
        dataset = self._ref("version")
        self.facts["run"] = self._follow(lambda report: train(self.client, dataset, report))
        self.facts["model"] = registered_version(self.client, self.facts["run"])
        self.atom("data", "coverage", dataset)

    def _evaluate(self) -> None:
        dataset, number = self._ref("version"), self.facts["model"]["number"]
        evaluation = self._follow(lambda report: evaluate(self.client, dataset, number, report))
        self.facts["evaluation"] = evaluation
        if evaluation["n"] != TEST_IMAGES or evaluation["accuracy"] < MINIMUM_ACCURACY:
            raise RuntimeError(
                f"accuracy {evaluation['accuracy']:.4f} on {evaluation['n']} images; "
                f"at least {MINIMUM_ACCURACY} on {TEST_IMAGES} is demanded"
            )

    def _follow(self, work: Any) -> Any:
        with bars(self.console, "Nothing to do: this run had succeeded before.") as shown:

            def report(state: str, fraction: float, text: str) -> None:
                if state not in TERMINAL or not shown.is_empty:
                    done = 1.0 if state == "succeeded" else fraction
                    shown.show("run", done, 1.0, f"{state} {text}")

            return work(report)

    def push(self, digits: Digits, *options: str) -> None:
        """Push the folder."""
        self.atom("data", "push", str(digits.folder), DATASET, *options)

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

    def _summary(self) -> None:
        self.console.rule("[bold]summary", align="left")
        for version in reversed(list(self.client.datasets.log(DATASET))):
            counts = f"+{version['added']} -{version['removed']} ~{version['changed']}"
            digest = version["content_digest"][:16]
            self.console.print(
                f"{DATASET}@{version['ref']}  content {digest}  {counts}  {version['message']}"
            )
        model, evaluation, run = (self.facts[name] for name in ("model", "evaluation", "run"))
        self.console.print(
            f"run {run['number']} {run['state']} in {run['duration_s']:.1f} s, "
            f"model {MODEL} version {model['number']} (digest {model['digest'][:16]})"
        )
        self.console.print(
            f"[bold]accuracy {evaluation['accuracy']:.4f}[/] on {evaluation['n']} test images"
        )
        self.console.print(_confusion_table(evaluation["confusion"]))
        took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.timings_s.items())
        self.console.print(f"took: {took}")
        self.console.print(
            f"\nPortal  [bold]{self.installation.url}[/]\n"
            f"Sign in as [bold]{self.installation.admin}[/] "
            f"with the password [bold]{self.installation.password}[/]"
        )


def _confusion_table(confusion: dict[str, Any]) -> Table:
    table = Table(title="true label ↓  predicted →", title_justify="left", box=None)
    table.add_column("")
    for label in confusion["labels"]:
        table.add_column(label, justify="right")
    for label, row in zip(confusion["labels"], confusion["matrix"], strict=True):
        table.add_row(label, *(str(n) if n else "·" for n in row))
    return table


def load_installation() -> Installation:
    """Return where the launcher's stack answers, and its administrator."""
    stack = Stack.load()
    if running_state(stack) is None:
        raise RuntimeError(f"Atom does not run in {stack.home}; start it with: make demo")
    secrets = load_or_generate(stack.home)
    return Installation(stack.url, stack.home, "admin", secrets.admin_password)


def main() -> int:
    """Run the demo; a failure is one sentence and exit code 1."""
    try:
        Demo(load_installation()).run()
    except (RuntimeError, AtomError, httpx.HTTPError) as exc:
        console = Console(stderr=True)
        console.print(f"[bold red]The demo stopped:[/] {exc} {getattr(exc, 'errors', '') or ''}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
