"""Every write of the data plane."""

from atom.datasets.actions.branches import create_branch, delete_branch
from atom.datasets.actions.catalogue import create_dataset, create_tag, delete_tag, pin, unpin
from atom.datasets.actions.commits import request_commit, request_split
from atom.datasets.actions.layers import publish_layer
from atom.datasets.actions.operations import preview_operation, request_operation
from atom.datasets.actions.quarantine import quarantine_pack
from atom.datasets.actions.saved_views import change_view, create_view, delete_view
from atom.datasets.actions.uploads import complete_upload, start_upload

__all__ = [
    "change_view",
    "complete_upload",
    "create_branch",
    "create_dataset",
    "create_tag",
    "create_view",
    "delete_branch",
    "delete_tag",
    "delete_view",
    "pin",
    "preview_operation",
    "publish_layer",
    "quarantine_pack",
    "request_commit",
    "request_operation",
    "request_split",
    "start_upload",
    "unpin",
]
