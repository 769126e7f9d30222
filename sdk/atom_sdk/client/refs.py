"""How people write versions: `digits@v3`, `digits@main`, `atom://project/digits@v3/path`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from atom_sdk.client.errors import RefSyntaxError

_NAME = r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?"
_SHORT = re.compile(rf"(?P<dataset>{_NAME})(?:@(?P<ref>[A-Za-z0-9._-]+))?(?:/(?P<path>.*))?", re.S)
_FULL = re.compile(rf"atom://(?P<project>{_NAME})/(?P<rest>.*)", re.S)


@dataclass(frozen=True)
class DatasetRef:
    """A dataset, a ref (`main` when none was written), and perhaps a project and a path."""

    dataset: str
    ref: str = "main"
    project: str | None = None
    path: str = ""

    def __str__(self) -> str:
        return f"{self.dataset}@{self.ref}"


def parse_ref(text: str) -> DatasetRef:
    """Return the parts of a reference. Raises RefSyntaxError."""
    full = _FULL.fullmatch(text)
    project, rest = (full["project"], full["rest"]) if full else (None, text)
    match = _SHORT.fullmatch(rest)
    if match is None:
        raise RefSyntaxError(f"{text!r} is not a dataset reference.")
    return DatasetRef(match["dataset"], match["ref"] or "main", project, match["path"] or "")
