"""Read two values out of an `MLmodel` file, without parsing the rest of its YAML."""

from __future__ import annotations

import re

_FLAVOUR = re.compile(r"^  ([A-Za-z_][\w.-]*):")
# Every model has this flavor; it does not name the framework.
_GENERIC = "python_function"


def framework_of(mlmodel: str) -> str:
    """Return the flavour that made the model, such as `sklearn`; nothing where none is named."""
    flavours: list[str] = []
    is_inside = False
    for line in mlmodel.splitlines():
        if not line.startswith(" "):
            is_inside = line.rstrip() == "flavors:"
        elif is_inside and (found := _FLAVOUR.match(line)):
            flavours.append(found[1])
    return next((name for name in flavours if name != _GENERIC), "".join(flavours[:1]))
