"""The look at a run's data before it starts: the portal's sentences, with commands that mend."""

from __future__ import annotations

from typing import Any

from atom_sdk.cli.context import Context
from atom_sdk.errors import PreflightFailedError

_COMMANDS = {
    "label_by_folder": "Use folder names as labels: atom data folder-labels {dataset}@{branch}",
    "make_test_split": "Make a test split: atom data split {dataset}@{branch} --split test=20%",
    "label": "Label them: on the page of {dataset} in the portal",
    "choose_version": "Choose another version: atom data log {dataset}",
    "open_dataset": "Look at the files: atom data ls {reference}",
    "show_unreadable": "See them: the query attributes.unreadable IS NOT NULL on the page of "
    "{reference} in the portal",
}


def check_data(context: Context, body: dict[str, Any]) -> None:
    """Print warnings about the data of a run. Raises PreflightFailedError for what would fail it.

    What is wrong with the request itself is told when the run is asked for.
    """
    looks = context.client.runs.preflight(**body)["datasets"]
    checks = [(look, check) for look in looks for check in look["checks"]]
    errors = [(look, check) for look, check in checks if check["level"] == "error"]
    if errors:
        sentences = [f"{look['reference']}: {check['sentence']}" for look, check in errors]
        commands = [command for look, check in errors for command in _mends(look, check)]
        raise PreflightFailedError(sentences, list(dict.fromkeys(commands)))
    for look, check in checks:
        if check["level"] == "warning":
            text = f"{look['reference']}: {check['sentence']}"
            context.err.print(text, markup=False, highlight=False)


def _mends(look: dict[str, Any], check: dict[str, Any]) -> list[str]:
    return [_COMMANDS[one].format(**look) for one in check["remedies"] if one in _COMMANDS]
