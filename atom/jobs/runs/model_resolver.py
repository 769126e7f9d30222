"""Registration of the resolver of `model` parameters, which an app above provides.

Jobs know artifacts but not the registry, which lies above; the registry registers its resolver
when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atom.accounts.models import Project
    from atom.datasets.models import Version
    from atom.jobs.models import Artifact


@dataclass(frozen=True)
class TrainingInput:
    """A dataset version that a model's run read; `splits` None is all of it."""

    version: Version
    splits: Sequence[str] | None = None
    where: str = ""


@dataclass(frozen=True)
class ResolvedModel:
    """A model version: its name for people, its files, path (relative) → artifact, its data."""

    reference: str
    files: dict[str, Artifact]
    trained_on: Sequence[TrainingInput] = ()


# Raises NotFound, with a sentence, for a model that the project does not have.
ModelResolver = Callable[["Project", str], ResolvedModel]
_resolvers: list[ModelResolver] = []


def register_model_resolver(resolver: ModelResolver) -> None:
    """Make `resolver` answer what `digits@production` means."""
    _resolvers[:] = [resolver]


def model_resolver() -> ModelResolver | None:
    """Return the registered resolver, None without a registry."""
    return _resolvers[0] if _resolvers else None
