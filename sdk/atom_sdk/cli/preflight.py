"""The look at a run's data before it starts: the portal's sentences, with commands that repair."""

from __future__ import annotations

from typing import Any

from atom_sdk.cli.context import Context
from atom_sdk.errors import PreflightFailedError

_COMMANDS = {
    "label_by_folder": "Use folder names as labels: atom data folder-labels {dataset}@{branch}",
    "make_test_split": "Make a test split: atom data split {dataset}@{branch} --split test=20%",
    "draw_splits": "Draw new splits: add --redraw, or run atom data split {dataset}@{branch} "
    "--split test=20% --split val=10% --redraw",
    "relabel": "Label them anew, with more classes: a new task for {reference} in the portal, over "
    "files with and without a label",
    "label": "Label them: on the page of {dataset} in the portal",
    "choose_version": "Choose another version: atom data log {dataset}",
    "open_dataset": "Look at the files: atom data ls {reference}",
    "show_unreadable": "See them: the query attributes.unreadable IS NOT NULL on the page of "
    "{reference} in the portal",
}


# As the portal's button draws them.
_DRAWN: dict[str, Any] = {"test": "20%", "val": "10%", "seed": 7, "stratify": True, "redraw": True}


def check_data(context: Context, body: dict[str, Any], *, redraw: bool = False) -> None:
    """Print warnings about the data of a run. Raises PreflightFailedError for what would fail it.

    Errors of the request itself appear when the run is requested. With `redraw`, a version whose
    splits do not fit gets new ones first: `body` then names the version with them.
    """
    looks = context.client.runs.preflight(**body)["datasets"]
    # All of them, not up to the first that was drawn.
    redrawn = [look for look in looks if redraw and _redrawn(context, body, look)]
    if redrawn:
        looks = context.client.runs.preflight(**body)["datasets"]
    checks = [(look, check) for look in looks for check in look["checks"]]
    errors = [(look, check) for look, check in checks if check["level"] == "error"]
    if errors:
        sentences = [f"{look['reference']}: {check['sentence']}" for look, check in errors]
        commands = [command for look, check in errors for command in _remedies(look, check)]
        raise PreflightFailedError(sentences, list(dict.fromkeys(commands)))
    for look, check in checks:
        if check["level"] == "warning":
            text = f"{look['reference']}: {check['sentence']}"
            context.err.print(text, markup=False, highlight=False)


def _redrawn(context: Context, body: dict[str, Any], look: dict[str, Any]) -> bool:
    """Draw new splits where a finding asks for them; returns whether `body` has a new version."""
    if not any("draw_splits" in check["remedies"] for check in look["checks"]):
        return False
    branch = f"{look['dataset']}@{look['branch']}"
    version = context.client.datasets.split(branch, dict(_DRAWN))
    reference = f"{look['dataset']}@{version['ref']}"
    body["parameters"] = {**body["parameters"], look["alias"]: reference}
    context.err.print(f"{reference} has new splits.", markup=False, highlight=False)
    return True


def _remedies(look: dict[str, Any], check: dict[str, Any]) -> list[str]:
    return [_COMMANDS[one].format(**look) for one in check["remedies"] if one in _COMMANDS]
