"""`python -m demo`: the main job against a running stack, then the same with objects on pictures.

Every step looks at what is there first, so running it again only shows the result.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from atom.dev.commands import running_state
from atom.dev.config import Installation as Launched
from atom.dev.secret_store import load_or_generate
from atom_sdk.errors import AtomError
from demo.bars import bars
from demo.images import UNLABELLED, Digits, change_some, write_digits
from demo.labeling import TASK, label_and_publish
from demo.people import Installation, labeling_team
from demo.stage import Stage
from demo.street import Street
from demo.training import MODEL, evaluate, registered_version, train

DATASET = "digits"
# Versions are known again by their messages.
PUSHED = "5,000 digits"
CHANGED = "50 digits re-centred"
LABELLED = f"Labels of {TASK}"
TEST_IMAGES = 1000
MINIMUM_ACCURACY = 0.95


class Demo:
    """The steps of the first act, and the summary of both."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.installation, self.console = stage.installation, stage.console
        self.client = stage.client
        self.facts: dict[str, Any] = {}

    def run(self) -> None:
        """Carry out both acts. Raises RuntimeError with the step's reason."""
        with self.stage.step("images"):
            digits = write_digits(self.installation.home / "demo")
        with self.stage.step("dataset versions"):
            self._versions(digits)
        with self.stage.step("labeling"):
            self._label(digits)
        with self.stage.step("training"):
            self._train()
        with self.stage.step("evaluation"):
            self._evaluate()
        Street(self.stage).run()
        self._summary()

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
        self.stage.atom("data", "diff", pushed, self._ref("changed"), lines=1)

    def _version_of(self, message: str) -> str | None:
        """Return the version that an earlier step or demo made, known by its message."""
        version = self.stage.version_of(DATASET, message)
        return str(version["ref"]) if version else None

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
        self.facts["run"] = self.stage.follow(lambda report: train(self.client, dataset, report))
        self.facts["model"] = registered_version(self.client, MODEL, self.facts["run"])
        self.stage.atom("data", "coverage", dataset)

    def _evaluate(self) -> None:
        dataset, number = self._ref("version"), self.facts["model"]["number"]
        evaluation = self.stage.follow(
            lambda report: evaluate(self.client, dataset, number, report)
        )
        self.facts["evaluation"] = evaluation
        if evaluation["n"] != TEST_IMAGES or evaluation["accuracy"] < MINIMUM_ACCURACY:
            raise RuntimeError(
                f"accuracy {evaluation['accuracy']:.4f} on {evaluation['n']} images; "
                f"at least {MINIMUM_ACCURACY} on {TEST_IMAGES} is demanded"
            )

    def push(self, digits: Digits, *options: str) -> None:
        """Push the folder."""
        self.stage.atom("data", "push", str(digits.folder), DATASET, *options)

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
        took = ", ".join(
            f"{name} {seconds:.1f} s" for name, seconds in self.stage.timings_s.items()
        )
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
    stack = Launched.load()
    if running_state(stack) is None:
        raise RuntimeError(f"Atom does not run in {stack.home}; start it with: make demo")
    secrets = load_or_generate(stack.home)
    return Installation(stack.url, stack.home, "admin", secrets.admin_password)


def main() -> int:
    """Run the demo; a failure is one sentence and exit code 1."""
    try:
        Demo(Stage(load_installation())).run()
    except (RuntimeError, AtomError, httpx.HTTPError) as exc:
        console = Console(stderr=True)
        console.print(f"[bold red]The demo stopped:[/] {exc} {getattr(exc, 'errors', '') or ''}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
