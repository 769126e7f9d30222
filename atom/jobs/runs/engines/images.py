"""References of container images, by the grammar of OCI's distribution."""

from __future__ import annotations

import re

from atom_sdk.sentences import Sentence

MAX_CHARACTERS = 500
_MAX_NAME = 255
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]{{1,5}})?"
_REFERENCE = re.compile(
    rf"(?P<name>(?:{_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}))?",
    re.ASCII,
)


def wrong_image(text: str) -> Sentence | None:
    """Return why a text is no reference of an image; None if it is one."""
    found = _REFERENCE.fullmatch(text)
    if found is not None and len(found["name"]) <= _MAX_NAME and len(text) <= MAX_CHARACTERS:
        return None
    return Sentence(
        "jobs.image_invalid",
        "This is no reference of an image. Write it like registry.example.org/team/train:1.2.",
    )
