"""How a source is read: choices of the person who imports it, and the way to download."""

from __future__ import annotations

from dataclasses import dataclass, field

from atom_sdk.importers.downloads import Downloads

YOLO_TASKS = ("detect", "segment", "pose", "obb")


@dataclass(frozen=True)
class ReadOptions:
    """Choices where a source does not say how it is to be read.

    `yolo_task` is one of YOLO_TASKS, "" to go by the source.
    """

    yolo_task: str = ""


@dataclass(frozen=True)
class Reading:
    """Things that a format's `read` needs besides the tree and the report."""

    downloads: Downloads
    options: ReadOptions = field(default_factory=ReadOptions)
