"""How people name a model version: `digits@v1`, `digits@1`, `digits@candidate`, `digits`."""

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"v?([1-9]\d{0,8})")


@dataclass(frozen=True)
class ModelReference:
    """`number` or `alias` is set; neither means the newest version."""

    name: str
    number: int | None = None
    alias: str = ""


def parse_model_reference(text: str) -> ModelReference:
    """Return the parts of a reference; anything may come in."""
    # PostgreSQL has no text with NUL in it, so neither has a name.
    name, _, ref = text.replace("\0", "\N{REPLACEMENT CHARACTER}").strip().partition("@")
    if match := _NUMBER.fullmatch(ref):
        return ModelReference(name, number=int(match[1]))
    return ModelReference(name, alias=ref)


def reads_like_version(text: str) -> bool:
    """Return whether an alias of this name could be mistaken for a version."""
    return bool(_NUMBER.fullmatch(text))
