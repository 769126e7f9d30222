"""How the data of an input gets to the command that reads it.

`packs`: warm before the start, read by the SDK. `mount`: warm too, and shown as an ordinary folder
whose path is in ATOM_INPUT_<ALIAS>. `stream`: the start waits for no data; the SDK fetches what it
reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

PACKS: Final = "packs"
MOUNT: Final = "mount"
STREAM: Final = "stream"
DELIVERIES: Final = (PACKS, MOUNT, STREAM)

VARIABLE_PREFIX: Final = "ATOM_INPUT_"
# ATOM_INPUT_DIR is the folder of input files, whatever the datasets are called.
_TAKEN = frozenset({"ATOM_INPUT_DIR"})
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9]")


def variable_of(alias: str) -> str:
    """Return the environment variable with an input's folder: `my-data` is ATOM_INPUT_MY_DATA."""
    return VARIABLE_PREFIX + _NOT_IN_A_NAME.sub("_", alias.upper())


def wrong_deliveries(deliveries: Mapping[str, str], aliases: Iterable[str]) -> dict[str, str]:
    """Return a sentence for each alias whose delivery cannot be had."""
    known = set(aliases)
    wrong = {}
    variables: dict[str, str] = {}
    for alias, delivery in deliveries.items():
        if alias not in known:
            wrong[alias] = "The run has no dataset of this alias."
        elif delivery == MOUNT:
            variable = variable_of(alias)
            other = variables.setdefault(variable, alias)
            if variable in _TAKEN:
                wrong[alias] = f"{variable} has another meaning: choose another alias."
            elif other != alias:
                wrong[alias] = f"'{other}' has the variable {variable} already: rename one of them."
    return wrong
