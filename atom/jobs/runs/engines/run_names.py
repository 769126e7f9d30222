"""Default names of a workflow's runs: the data, then what distinguishes the run from others.

The portal shows the same name before the run is there (`wizard/runNames.ts`); both are tested with
the cases of `runNames.cases.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from atom.jobs.workflows.engines.parameters import Parameter

# Short forms of common parameters; others keep their names.
_SHORT = {
    "epochs": "e",
    "learning_rate": "lr ",
    "batch_size": "b",
    "image_size": "px",
    "model_version": "",
    "split": "",
}
# Part of the name even with its default: people compare runs by these.
_ALWAYS = frozenset({"epochs", "learning_rate", "model_version", "split"})
_MAX_LENGTH = 80
# Where JavaScript begins to write an exponent.
_PLAIN_FROM, _PLAIN_BELOW = 1e-6, 1e21


def suggested_name(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> str:
    """Return a name such as `flowers · e6 · lr 0.004`; empty without a dataset."""
    dataset = next((one.name for one in parameters if one.type == "dataset"), "")
    data, at, ref = _text(values.get(dataset)).rpartition("@")
    # Without a version, all of it is the dataset's name.
    data = data if at else ref
    if not data:
        return ""
    parts = [
        f"{_SHORT.get(one.name, f'{one.name} ')}{_text(values[one.name])}"
        for one in parameters
        if one.type not in {"dataset", "name"}
        and values.get(one.name) is not None
        and (one.name in _ALWAYS or _text(values[one.name]) != _text(one.default))
    ]
    return " · ".join([data, *(part for part in parts if part.strip())])[:_MAX_LENGTH]


def _text(value: Any) -> str:
    """Write a value as JavaScript does, so that the portal's name is the same."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _PLAIN_BELOW:
            return str(int(value))
        if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
            return format(Decimal(repr(value)), "f")
        return repr(value).replace("e-0", "e-")
    return str(value)
