"""References as people write them: `dataset@ref`, `model@version`, `atom://project/dataset@ref`.

A dataset may be narrowed to a saved view: `dataset@ref?view=name`.
"""

from __future__ import annotations

from dataclasses import dataclass

SCHEME = "atom://"
_VIEW = "?view="


class BadReferenceError(ValueError):
    """The text is not a reference; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name and a ref; `project` is None for the project at hand."""

    project: str | None
    name: str
    ref: str
    view: str = ""


def parse_reference(text: str) -> Reference:
    """Return the parts of a reference. Raises BadReferenceError; a missing ref is `main`."""
    project: str | None = None
    rest = text.strip()
    if rest.startswith(SCHEME):
        project, slash, rest = rest.removeprefix(SCHEME).partition("/")
        if not slash:
            raise BadReferenceError("Write atom://project/dataset@ref.")
    rest, asked, view = rest.partition(_VIEW)
    name, at, ref = rest.partition("@")
    if not name or (at and not ref) or "/" in name:
        raise BadReferenceError(f"'{text}' is not of the form dataset@ref, such as digits@v3.")
    if asked and not view:
        raise BadReferenceError(f"'{text}' names no view; write digits@v3?view=cats.")
    return Reference(project, name, ref or "main", view)
