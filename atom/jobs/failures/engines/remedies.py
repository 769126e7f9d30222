"""Buttons that repair a failure or a finding of the preflight, by its code."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from atom.jobs.failures.engines.failure_codes import FailureCode


class Remedy(StrEnum):
    """One thing that a person can do about it, there and then."""

    LABEL_BY_FOLDER = "label_by_folder"
    LABEL = "label"
    # A task over files that have a label, too.
    RELABEL = "relabel"
    MAKE_TEST_SPLIT = "make_test_split"
    # Files that are in a split are drawn again.
    DRAW_SPLITS = "draw_splits"
    CHOOSE_VERSION = "choose_version"
    OPEN_DATASET = "open_dataset"
    SHOW_UNREADABLE = "show_unreadable"
    CLONE = "clone"
    TRAIN_AGAIN = "train_again"


REMEDIES: Final[Mapping[str, tuple[Remedy, ...]]] = {
    FailureCode.NO_LABELS: (Remedy.LABEL_BY_FOLDER, Remedy.LABEL, Remedy.CLONE),
    FailureCode.ONE_CLASS: (Remedy.LABEL_BY_FOLDER, Remedy.RELABEL, Remedy.CLONE),
    FailureCode.SPLIT_EMPTY: (Remedy.MAKE_TEST_SPLIT, Remedy.DRAW_SPLITS, Remedy.CLONE),
    FailureCode.NOTHING_READABLE: (Remedy.OPEN_DATASET, Remedy.CLONE),
    FailureCode.NOTHING_SELECTED: (Remedy.CLONE,),
    FailureCode.GPU_OUT_OF_MEMORY: (Remedy.CLONE,),
    FailureCode.OUT_OF_MEMORY: (Remedy.CLONE,),
    FailureCode.DEADLINE: (Remedy.CLONE,),
    FailureCode.MODEL_WITHOUT_DESCRIPTION: (Remedy.CLONE,),
    FailureCode.MODEL_OF_ANOTHER_PROGRAM: (Remedy.CLONE,),
    FailureCode.MODEL_DAMAGED: (Remedy.CLONE,),
    FailureCode.NO_VIDEOS: (Remedy.CLONE, Remedy.OPEN_DATASET),
    FailureCode.NO_READABLE_VIDEO: (Remedy.OPEN_DATASET,),
    FailureCode.OUTPUT_IS_INPUT: (Remedy.CLONE,),
    FailureCode.RESULT_NOT_PUSHED: (Remedy.CLONE,),
    FailureCode.IMPORT_REFUSED: (Remedy.CLONE,),
    FailureCode.NO_OBJECTS: (Remedy.LABEL, Remedy.CLONE),
    FailureCode.EXPORT_DIFFERS: (Remedy.CLONE,),
    FailureCode.NOT_A_DETECTOR: (Remedy.CLONE,),
}


def remedies_of(code: str, params: object) -> list[Remedy]:
    """Return the remedies of a failure; folders are offered as labels only if they look so."""
    named = params if isinstance(params, Mapping) else {}
    return [one for one in REMEDIES.get(code, ()) if _fits(one, named)]


def _fits(remedy: Remedy, params: Mapping[str, object]) -> bool:
    if remedy is Remedy.LABEL_BY_FOLDER:
        folders = params.get("class_folders")
        return isinstance(folders, int) and folders > 1
    draws = remedy in {Remedy.MAKE_TEST_SPLIT, Remedy.DRAW_SPLITS}
    return not draws or params.get("split") == "test"
