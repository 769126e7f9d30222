"""The stages that an operation goes through, in order."""

from __future__ import annotations

from atom.datasets.operations.engines.operations import Arguments, EditArguments
from atom_sdk.manifests.progress import Stage

_MERGE: tuple[Stage, ...] = ("comparing", "comparing", "labels", "writing")


_EDITS: dict[str, tuple[Stage, ...]] = {
    "remove": ("reading", "writing", "labels"),
    "move": ("reading", "writing", "labels"),
    "copy": ("reading", "writing", "labels"),
    "set": ("reading", "writing"),
    "label": ("reading", "labels"),
    "split": ("reading", "labels"),
    "move_objects": ("reading", "reading", "writing", "labels"),
}


def stages_of(arguments: Arguments) -> tuple[Stage, ...]:
    """Return the stages of an operation, in order."""
    if isinstance(arguments, EditArguments):
        return tuple(stage for step in arguments.edits for stage in _EDITS[step.op])
    return _MERGE
