"""MLflow names models as people like; Atom's names are part of addresses."""

from __future__ import annotations

import re

MAX_SLUG = 63
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_NOT_NAME = re.compile(r"[/:\0]")
MAX_NAME = 256


def slug_of(name: str, taken: frozenset[str] = frozenset()) -> str:
    """Return an Atom name for a model of MLflow's that is not among the `taken`."""
    base = _NOT_SLUG.sub("-", name.lower()).strip("-")[: MAX_SLUG - 6].strip("-") or "model"
    found, count = base, 2
    while found in taken:
        found, count = f"{base}-{count}", count + 1
    return found


def is_model_name(name: str) -> bool:
    """Return whether MLflow would take the name."""
    return bool(name.strip()) and len(name) <= MAX_NAME and not _NOT_NAME.search(name)


def folder_name(name: str) -> str:
    """Return a name for a folder that shows a logged model's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:100] or "model"
