"""A request for a run, as a person sent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from atom.jobs.launchers import PLAIN
from atom.jobs.models import Artifact
from atom.jobs.start_ways import StartWay

Errors = dict[str, list[str]]


@dataclass(frozen=True)
class RunRequest:
    """A request for a run, as a person sent it."""

    name: str = ""
    workflow: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    code_snapshot: UUID | None = None
    requirements: str = ""
    datasets: dict[str, str] = field(default_factory=dict)
    selectors: dict[str, dict[str, Any]] = field(default_factory=dict)
    deliveries: dict[str, str] = field(default_factory=dict)
    resources: dict[str, int] = field(default_factory=dict)
    # The kind of its GPUs; empty for any.
    accelerator: str = ""
    # How many pods run the command together, each with these resources, and how they start it.
    nodes: int = 1
    launcher: str = PLAIN
    env: dict[str, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    timeout_s: int | None = None
    max_retries: int | None = None
    tags: list[str] = field(default_factory=list)
    may_write: bool = False
    # A registered cluster, or `auto`: Atom chooses the place. Empty for Atom's own machines.
    cluster: str = ""
    # The image that a registered cluster starts; empty for the installation's.
    image: str = ""
    # When it starts relative to its data; None: Atom chooses.
    start: StartWay | None = None
    # Files that an app gives its own run, by path in its input folder; people cannot set them.
    files: Mapping[str, Artifact] = field(default_factory=dict)
