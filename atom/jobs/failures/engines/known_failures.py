"""Failures that the predefined workflows declare by a code: their sentences and next steps.

A workflow raises `atom_sdk.run.RunFailure(code, sentence, **params)`; the runner's exit report
carries code and params. Any command may send them, so only known codes with fitting params count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from atom.jobs.failures.engines import failure_codes as classes
from atom.jobs.failures.engines.failure_codes import FailureCode

MAX_TEXT: Final = 300
Value = str | int


@dataclass(frozen=True, slots=True)
class Known:
    """A code's class, sentence and next step; `numbers` and `texts` name its params."""

    failure_class: str
    reason: str
    suggestion: str
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownText:
    """A known failure with its params filled in."""

    failure_class: str
    reason: str
    suggestion: str
    params: Mapping[str, Value]


KNOWN: Final[Mapping[str, Known]] = {
    FailureCode.NO_LABELS: Known(
        classes.BAD_DATA,
        "No labels in {dataset}: none of the {files} files that this run reads has one.",
        "Use the names of the folders as labels, or label the files. Then start the run with the "
        "new version.",
        ("dataset",),
        ("files", "class_folders"),
    ),
    FailureCode.ONE_CLASS: Known(
        classes.BAD_DATA,
        "Only one class in {dataset}: all {labelled} labelled files are '{label}'.",
        "Label files of at least one other class, or choose another version.",
        ("dataset", "label"),
        ("labelled", "class_folders"),
    ),
    FailureCode.SPLIT_EMPTY: Known(
        classes.BAD_DATA,
        "No files in the split {split} of {dataset}.",
        "Make this split, or choose a version or a split that has files.",
        ("dataset", "split"),
    ),
    FailureCode.NOTHING_READABLE: Known(
        classes.BAD_DATA,
        "No picture of {dataset} can be opened: all {files} that this run reads failed.",
        "Look at the files in the dataset and replace them, or choose another version.",
        ("dataset",),
        ("files",),
    ),
    FailureCode.GPU_OUT_OF_MEMORY: Known(
        classes.OOM_GPU,
        "The GPU ran out of memory with batches of {batch_size} and pictures of {image_size} "
        "pixels.",
        "Clone the run with a smaller batch size or image size.",
        (),
        ("batch_size", "image_size"),
    ),
    FailureCode.MODEL_WITHOUT_DESCRIPTION: Known(
        classes.BAD_MODEL,
        "The model {model} has no model.json, so this workflow cannot read it.",
        "Choose a model that the workflow image-classification trained.",
        ("model",),
    ),
    FailureCode.MODEL_OF_ANOTHER_PROGRAM: Known(
        classes.BAD_MODEL,
        "The model {model} has the format {format}, which this workflow cannot read.",
        "Choose a model that the workflow image-classification trained.",
        ("model", "format"),
    ),
    FailureCode.MODEL_DAMAGED: Known(
        classes.BAD_MODEL,
        "The files of the model {model} do not fit together: {error}",
        "Register the model again, or choose another version of it.",
        ("model", "error"),
    ),
    FailureCode.NO_VIDEOS: Known(
        classes.BAD_DATA,
        "No videos in {dataset}: none of its {files} files below the chosen folder is one.",
        "Choose a version with videos, or another folder in “Only below”.",
        ("dataset",),
        ("files",),
    ),
    FailureCode.NO_READABLE_VIDEO: Known(
        classes.BAD_DATA,
        "No video of {dataset} can be read: all {videos} failed.",
        "The log says why for each. Replace the videos, or choose another version.",
        ("dataset",),
        ("videos",),
    ),
    FailureCode.OUTPUT_IS_INPUT: Known(
        classes.BAD_PARAMETERS,
        "The output {output} is the dataset that has the videos.",
        "Clone the run and name another dataset as the output.",
        ("output",),
    ),
    FailureCode.RESULT_NOT_PUSHED: Known(
        classes.RESULT_REFUSED,
        "The result could not be pushed to {output}: {error}",
        "Correct what the sentence names, then retry the run.",
        ("output", "error"),
    ),
    FailureCode.IMPORT_REFUSED: Known(
        classes.BAD_DATA,
        "Nothing was imported from {source}: {error}",
        "Correct what the sentence names, or import with other choices. Then look again.",
        ("source", "reason", "error"),
    ),
    FailureCode.NO_OBJECTS: Known(
        classes.BAD_DATA,
        "No objects in {dataset}: none of the {files} pictures that this run reads has one.",
        "Draw objects in a label task, or import annotations. Then start the run with the new "
        "version.",
        ("dataset",),
        ("files", "looked_at"),
    ),
    FailureCode.EXPORT_DIFFERS: Known(
        classes.BAD_MODEL,
        "The ONNX file answers otherwise than the network: by {score} in scores and {pixels} "
        "pixels in boxes.",
        "Retry the run. If it fails again, clone it with a lower learning rate.",
        ("score", "pixels"),
    ),
    FailureCode.NOT_A_DETECTOR: Known(
        classes.BAD_MODEL,
        "The model {model} has no detector.json of a form that this workflow reads.",
        "Choose a model that the workflow object-detection trained.",
        ("model",),
    ),
}


def known_failure(code: str, params: object) -> KnownText | None:
    """Return the failure of a code, None if it is unknown or a param is missing or of another type.

    Params that the code does not have are left out.
    """
    known = KNOWN.get(code)
    if known is None or not isinstance(params, Mapping):
        return None
    texts = {name: params.get(name) for name in known.texts}
    numbers = {name: params.get(name) for name in known.numbers}
    if not all(isinstance(value, str) for value in texts.values()):
        return None
    if not all(type(value) is int for value in numbers.values()):
        return None
    values: dict[str, Value] = {name: str(value)[:MAX_TEXT] for name, value in texts.items()}
    values |= {name: value for name, value in numbers.items() if isinstance(value, int)}
    reason = known.reason.format_map(values)
    return KnownText(known.failure_class, reason, known.suggestion, values)
