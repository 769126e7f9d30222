"""Sentences that several actions of labeling say."""

from __future__ import annotations

from typing import Final

from atom_sdk.errors import AtomError
from atom_sdk.sentences import Sentence

# By the code of a reader's error: the next step, where it is another one than mending the file.
_NEXT_STEPS: Final = {
    "archive_damaged": Sentence("labeling.send_archive_again", "Make and upload it again."),
    "archive_too_large": Sentence(
        "labeling.split_archive", "Split it, and import the parts one after another."
    ),
    "import_source_unreadable": Sentence(
        "labeling.label_sources",
        "Upload a .json, .jsonl, .xml or .parquet file, or an archive: "
        ".zip, .tar, .tar.gz or .tar.zst.",
    ),
    "labels_match_no_picture": Sentence(
        "labeling.compare_names",
        "Compare the names in the labels with the paths of the version's pictures.",
    ),
    "labels_take_no_picture": Sentence(
        "labeling.send_pictures_too",
        "Correct the labels, or upload an archive that has their pictures too.",
    ),
    "library_missing": Sentence(
        "labeling.ask_for_library", "Ask an administrator to install it on the server."
    ),
    "yolo_task_unknown": Sentence(
        "labeling.choose_yolo_task", "Choose the task of the YOLO labels, and import again."
    ),
    "zip_encoding_wrong": Sentence(
        "labeling.name_in_utf8", "Make the archive with names in UTF-8."
    ),
}


def unreadable_labels(error: AtomError) -> str:
    """Return a reader's words about labels that it cannot read, with the next step."""
    problem = str(error)
    step = _NEXT_STEPS.get(error.code)
    if step is None:
        return problem
    return Sentence("labeling.problem_and_step", "{problem} {step}", problem=problem, step=step)


def task_is(state: str) -> Sentence:
    """Return the state of a task that refuses the request."""
    return Sentence("labeling.task_is", "The task is {state}.", state=state)
