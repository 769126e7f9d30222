"""Counts of a version's files."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class VersionStats:
    """Counts of files; splits and labels that nobody has are left out.

    `annotated` files have a row in the layer of objects, `object_labels` counts its objects.
    `described` files have objects of an earlier import in their attributes.
    `unsplit` are in no split of a version that has splits; they are read as `train`.
    """

    files: int
    links: int
    labels: dict[str, int]
    splits: dict[str, int]
    media_types: dict[str, int]
    unlabelled: int
    unreadable: int
    unreadable_paths: list[str]
    unsplit: int
    unsplit_paths: list[str]
    annotated: int = 0
    described: int = 0
    object_labels: dict[str, int] = field(default_factory=dict)
