"""Import of archives and annotation formats: everything becomes items that a push sends.

One module a format, a function `read(tree, report)` each; see README.md beside this file.
"""

from __future__ import annotations

from atom_sdk.importers.formats import FORMATS
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.read_options import YOLO_TASKS, ReadOptions
from atom_sdk.importers.report import Problem, Report

__all__ = [
    "FORMATS",
    "YOLO_TASKS",
    "ArchiveLimits",
    "Blob",
    "Item",
    "Problem",
    "ReadOptions",
    "Report",
]
