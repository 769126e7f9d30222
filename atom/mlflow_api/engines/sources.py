"""Where a model version comes from, as MLflow's client names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from atom.mlflow_api.engines.ids import uuid_of, uuid_of_model

SCHEME = "mlflow-artifacts:/"
RUNS, LOGGED_MODELS, MODEL_VERSIONS = "runs", "logged-models", "model-versions"
_ROOTS = {RUNS: uuid_of, LOGGED_MODELS: uuid_of_model, MODEL_VERSIONS: uuid_of}


@dataclass(frozen=True, slots=True)
class Place:
    """A path below one of the roots of artifacts."""

    root: str
    id: UUID
    path: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A version of a registered model, by number or alias."""

    name: str
    version: str


def parse_place(path: str) -> Place | None:
    """Return the place of `runs/<id>/a/b`; None for anything else, or a path that climbs."""
    parts = path.strip("/").split("/")
    if len(parts) < 2 or parts[0] not in _ROOTS or not is_safe("/".join(parts)):
        return None
    found = _ROOTS[parts[0]](parts[1])
    return None if found is None else Place(parts[0], found, "/".join(parts[2:]))


def is_safe(path: str) -> bool:
    """Return whether a path stays where it is put, on every system that it is downloaded to."""
    parts = path.split("/")
    return "\0" not in path and "\\" not in path and not {"", ".", ".."} & set(parts)


def parse_source(source: str) -> Place | Named | None:
    """Return what a model version's source names; None where it is none of Atom's."""
    if source.startswith("models:/"):
        rest = source.removeprefix("models:/").strip("/")
        if (logged := uuid_of_model(rest)) is not None:
            return Place(LOGGED_MODELS, logged)
        name, mark, version = _last_mark(rest)
        return Named(name, version if mark == "/" else f"@{version}") if mark else None
    if source.startswith("runs:/"):
        return parse_place(f"{RUNS}/{source.removeprefix('runs:/').strip('/')}")
    found = re.fullmatch(r"mlflow-artifacts:/+(.*)", source)
    return parse_place(found[1]) if found else None


def _last_mark(text: str) -> tuple[str, str, str]:
    return text.rpartition("@") if "@" in text else text.rpartition("/")
