"""The calls of a training script to Atom. They also work outside a run, locally.

    from atom_sdk import run

    samples = run.dataset("digits", split="train")
    start = run.resume()
    for epoch in range(start.step if start else 0, run.params.get("epochs", 5)):
        for sample in run.track(samples): ...
        run.log({"loss": loss}, step=epoch)
        run.progress((epoch + 1) / epochs, f"epoch {epoch + 1}/{epochs}")
        run.save_checkpoint(epoch + 1, {"state.pt": to_bytes(model)})
    run.save_model({"weights.pt": to_bytes(model)}, framework="pytorch", metrics={"accuracy": 0.98})
    with run.writer("features") as writer: ...  # in a run that was started with --may-write

Everything may be called from several threads and processes. Importing this module is cheap: Arrow
is loaded by `dataset` only.
"""

from __future__ import annotations

from atom_sdk.run.checkpoints import Checkpoint, resume, save_checkpoint
from atom_sdk.run.context import (
    NotInRunError,
    checkpoint_dir,
    input_dir,
    is_in_run,
    output_dir,
)
from atom_sdk.run.data_wait import track
from atom_sdk.run.datasets import UnknownAliasError, dataset, folder
from atom_sdk.run.failure import RunFailure, main
from atom_sdk.run.metrics import log, progress
from atom_sdk.run.models import save_model
from atom_sdk.run.parameters import Parameters, params
from atom_sdk.run.writing import MayNotWriteError, client, writer

__all__ = [
    "Checkpoint",
    "MayNotWriteError",
    "NotInRunError",
    "Parameters",
    "RunFailure",
    "UnknownAliasError",
    "checkpoint_dir",
    "client",
    "dataset",
    "folder",
    "input_dir",
    "is_in_run",
    "log",
    "main",
    "output_dir",
    "params",
    "progress",
    "resume",
    "save_checkpoint",
    "save_model",
    "track",
    "writer",
]
