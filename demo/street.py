"""The second act: a film and photographs → objects → a detector → labels for other tools.

It shows the way, not a quality: 26 pictures teach a detector nothing that holds elsewhere, and
frames of one film lie on both sides of the split.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from demo.bars import bars
from demo.people import labeling_team
from demo.stage import Stage
from demo.street_labeling import TASK, draw_and_publish
from demo.street_pictures import FRAME_EVERY_S, write_film, write_photographs
from demo.training import evaluation_of, registered_version, run_workflow

FILMS, DATASET, MODEL = "street-film", "street", "street"
# Versions are known again by their messages.
FILMED, PICTURED = "a film of a street", "five photographs"
SPLIT = "five to test with, four to validate on"
CUT: Final = "street frames"
TRAINING: Final = "street detector"
EVALUATION: Final = "street evaluation"
# A tenth of so few would leave nothing to validate on.
HELD_OUT: Final = ("test=5", "val=4")


class Street:
    """The steps; each looks at what is there first."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.client = stage.client

    def run(self) -> None:
        """Carry out the second act. Raises RuntimeError with the step's reason."""
        with self.stage.step("film and photographs"):
            pictures = self._pictures()
        with self.stage.step("objects"):
            labelled = self._objects(pictures)
        with self.stage.step("detector"):
            number = self._train(labelled)
        with self.stage.step("detector's evaluation"):
            self._evaluate(labelled, number)
        with self.stage.step("labels for other tools"):
            self._export(labelled)

    def _pictures(self) -> str:
        """Return the version whose pictures have a split."""
        stage, home = self.stage, self.stage.installation.home / "demo"
        if stage.version_of(FILMS, FILMED) is None:
            stage.atom("data", "push", str(write_film(home)), FILMS, "-m", FILMED)
        film = stage.version_of(FILMS, FILMED) or {}
        parameters = {"dataset": f"{FILMS}@{film['ref']}", "output": DATASET}
        self._run(CUT, "video-frames", {**parameters, "every_s": FRAME_EVERY_S})
        if stage.version_of(DATASET, PICTURED) is None:
            folder = str(write_photographs(home))
            stage.atom("data", "import", folder, DATASET, "--format", "folder", "-m", PICTURED)
        if stage.version_of(DATASET, SPLIT) is None:
            parts = [word for part in HELD_OUT for word in ("--split", part)]
            stage.atom("data", "split", DATASET, *parts, "--no-stratify", "-m", SPLIT)
        version = stage.version_of(DATASET, SPLIT) or {}
        stage.link("Pictures", f"/datasets/{DATASET}?ref={version['ref']}")
        return f"{DATASET}@{version['ref']}"

    def _objects(self, dataset: str) -> str:
        """Return the version with the layer `objects`."""
        team = partial(labeling_team, self.stage.installation)
        nothing = "Nothing to do: the objects were drawn and audited before."
        with bars(self.stage.console, nothing) as shown:
            task = draw_and_publish(self.client, team, dataset, shown.show)
        published, drawn = task["output_version"]["ref"], task["progress"]["published"]
        people = self.client.labelx.stats(task["id"])
        returned, accepted = (sum(one[name] for one in people) for name in ("returned", "accepted"))
        # Work that the auditor has drawn again is accepted as the auditor's.
        self.stage.console.print(
            f"{drawn} pictures drawn, {returned} returned by the audit, {drawn - accepted} "
            f"corrected by the auditor, published as {DATASET}@{published}"
        )
        self.stage.link(TASK, f"/labeling/{task['id']}")
        self.stage.link("Objects", f"/datasets/{DATASET}?ref={published}")
        return f"{DATASET}@{published}"

    def _train(self, dataset: str) -> int:
        """Return the number of the registered detector."""
        parameters = {"dataset": dataset, "register_model": MODEL, "image_size": 128, "epochs": 20}
        run = self._run(TRAINING, "object-detection", parameters)
        number = int(registered_version(self.client, MODEL, run)["number"])
        self.stage.link("Mistakes", f"/runs/{run['id']}/predictions")
        self.stage.link("Model", f"/models/{MODEL}/versions/{number}")
        return number

    def _evaluate(self, dataset: str, number: int) -> None:
        parameters = {"model_version": f"{MODEL}@v{number}", "dataset": dataset, "split": "test"}
        run = self._run(EVALUATION, "evaluate-detector", parameters)
        evaluation = evaluation_of(self.client, MODEL, number, run)
        self.stage.console.print(
            f"{evaluation['n']} objects and detections compared, of pictures held out"
        )
        self.stage.link("Evaluation", f"/models/{MODEL}/versions/{number}?tab=evaluations")

    def _export(self, dataset: str) -> None:
        folder = self.stage.installation.home / "demo" / f"{dataset.replace('@', '-')}-coco"
        if folder.exists():
            self.stage.console.print(f"Nothing to do: {folder} was written before.")
        else:
            self.stage.atom("labels", "export", dataset, "--format", "coco", "--out", str(folder))

    def _run(self, name: str, workflow: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Run a workflow, or take up the run that is there already, and print its page."""
        work = partial(run_workflow, self.client, name, workflow, parameters)
        run = self.stage.follow(work)
        self.stage.link(f"Run {run['number']}", f"/runs/{run['id']}")
        return run
