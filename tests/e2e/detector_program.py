"""The detector's programs, run on this machine by the environment that a stack has built."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from atom.jobs.workflows.actions.workflows import BUILT_IN

PARAMETERS: Final = {
    "dataset": "shapes@v1", "epochs": 4, "image_size": 96, "batch_size": 8, "seed": 3,
}  # fmt: skip
TRAINING, EVALUATION = BUILT_IN / "object_detection", BUILT_IN / "evaluate_detector"


@dataclass(frozen=True)
class Program:
    """An interpreter with torch and ONNX, and the data to use it on."""

    python: Path
    data: Mapping[str, str] = field(default_factory=dict)

    def train(self, folder: Path, resume: Path | None = None, **more: Any) -> Path:
        """Train in a folder and return its outputs. Raises ProgramFailedError."""
        more_of_run = {}
        if resume is not None:
            step = str(int(resume.name.rpartition("-")[2]))
            more_of_run = {"ATOM_RESUME_DIR": str(resume), "ATOM_RESUME_STEP": step}
        return self._run(TRAINING / "train.py", folder, PARAMETERS | more, more_of_run)

    def evaluate(self, folder: Path, model: Path, split: str) -> Path:
        """Measure a model in a folder and return its outputs. Raises ProgramFailedError."""
        parameters = {"split": split, "dataset": "shapes@v1", "model_version": "shapes@v1"}
        of_run = {"ATOM_INPUT_DIR": str(model)}
        return self._run(EVALUATION / "evaluate.py", folder, parameters, of_run)

    def answer(self, code: str, *arguments: str) -> Any:
        """Run lines beside the training's modules and return the JSON that they print."""
        done = self._call(["-c", code, *arguments], {"PYTHONPATH": str(TRAINING)})
        return json.loads(done.splitlines()[-1])

    def _run(
        self, program: Path, folder: Path, parameters: Mapping[str, Any], more: Mapping[str, str]
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "parameters.json").write_text(json.dumps(parameters))
        of_run = {
            "ATOM_PARAMETERS": str(folder / "parameters.json"),
            "ATOM_OUTPUT_DIR": str(folder / "outputs"),
            "ATOM_CHECKPOINT_DIR": str(folder / "checkpoints"),
            "ATOM_METRICS_FILE": str(folder / "metrics.jsonl"),
            "ATOM_RUN_DIR": str(folder),
        }
        self._call([str(program)], {**of_run, **self.data, **more})
        return folder / "outputs"

    def _call(self, arguments: list[str], more: Mapping[str, str]) -> str:
        own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {**own, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **more}
        done = subprocess.run(
            [str(self.python), *arguments],
            env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ProgramFailedError(done.stdout[-2000:] + done.stderr[-3000:])
        return done.stdout


class ProgramFailedError(Exception):
    """The program has ended with another exit code than 0; the text is the end of its output."""


def metrics_of(folder: Path, name: str) -> list[float]:
    """Return the values of a metric that a run in the folder has logged."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [row["values"][name] for row in rows if name in row.get("values", {})]
