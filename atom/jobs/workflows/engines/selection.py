"""Selection of the part of each dataset that a workflow's code sees.

`inputs` of workflow.json maps a dataset parameter to a selector: `{}` is the whole version,
`{"split": ["train", "val"]}` some of its splits, `{"split": {"parameter": "split"}}` the split that
the person named. Entries that are not selected, and their labels, are not in the job's view.
With `"narrowable": true` a person may take a part of that, by a query or a saved view, never more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atom.jobs.workflows.engines.parameters import Parameter

# The selector of an input that declares nothing: everything but the test split.
TRAINING: Mapping[str, Any] = {"split": ["train", "val"]}
_TYPES_THAT_NAME = frozenset({"string", "enum"})


def check_inputs(
    inputs: Mapping[str, Mapping[str, Any]], parameters: Sequence[Parameter]
) -> dict[str, dict[str, Any]]:
    """Return the inputs as plain dicts. Raises ValueError if they do not fit the parameters."""
    datasets = {one.name for one in parameters if one.type == "dataset"}
    if set(inputs) != datasets:
        # Explicit for each: a selector that was forgotten would show the test labels.
        raise ValueError(f"inputs must name the dataset parameters: {sorted(datasets)}")
    naming = {one.name for one in parameters if one.type in _TYPES_THAT_NAME}
    for name, declared in inputs.items():
        _check_selector(name, declared, naming)
    return {name: dict(declared) for name, declared in inputs.items()}


def _check_selector(name: str, declared: Mapping[str, Any], naming: set[str]) -> None:
    if unknown := set(declared) - {"split", "narrowable"}:
        raise ValueError(f"inputs.{name}: unknown keys {sorted(unknown)}")
    if not isinstance(declared.get("narrowable", False), bool):
        raise ValueError(f"inputs.{name}.narrowable must be true or false")
    split = declared.get("split", [])
    if isinstance(split, Mapping):
        if set(split) != {"parameter"} or split["parameter"] not in naming:
            raise ValueError(f"inputs.{name}.split must name one of {sorted(naming)}")
    elif not (isinstance(split, list) and all(isinstance(one, str) for one in split)):
        raise ValueError(f"inputs.{name}.split must be a list of names")


def selector_of(declared: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selector of one input with the run's parameters filled in."""
    split = declared.get("split")
    if not split:
        return {}
    if isinstance(split, Mapping):
        # No value means no sample, and never the whole version.
        return {"split": [str(values.get(split["parameter"]) or "")]}
    return {"split": list(split)}
