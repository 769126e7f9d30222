"""Every write of the registry."""

from atom.models_registry.actions.aliases import remove_alias, set_alias
from atom.models_registry.actions.changes import (
    delete_model,
    delete_version,
    describe,
    label,
    rename_model,
)
from atom.models_registry.actions.evaluations import record_evaluation
from atom.models_registry.actions.intake import take_in_finished_runs, take_in_run
from atom.models_registry.actions.registration import (
    Registration,
    create_model,
    get_or_create_model,
    insert_version,
    register,
    verified_files,
)

__all__ = [
    "Registration",
    "create_model",
    "delete_model",
    "delete_version",
    "describe",
    "get_or_create_model",
    "insert_version",
    "label",
    "record_evaluation",
    "register",
    "remove_alias",
    "rename_model",
    "set_alias",
    "take_in_finished_runs",
    "take_in_run",
    "verified_files",
]
