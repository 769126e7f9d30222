"""Every write of the data plane."""

from atom.datasets.actions.branches import create_branch, delete_branch
from atom.datasets.actions.catalogue import create_dataset, create_tag, delete_tag, pin, unpin
from atom.datasets.actions.commit_progress import cancel_commit
from atom.datasets.actions.commit_root import CommitDetails
from atom.datasets.actions.commits import request_commit, request_split
from atom.datasets.actions.dismissals import dismiss_ended_operations, dismiss_operation
from atom.datasets.actions.folder_labels import request_folder_labels
from atom.datasets.actions.layers import NamedLayer, publish_layer
from atom.datasets.actions.operations import preview_operation, request_operation
from atom.datasets.actions.quarantine import quarantine_pack
from atom.datasets.actions.saved_views import change_view, create_view, delete_view
from atom.datasets.actions.uploads import complete_upload, start_upload
from atom.datasets.actions.write_jobs import (
    abort_write_job,
    commit_task,
    open_write_job,
    request_job_commit,
)
from atom.datasets.actions.writers import (
    abandon_writer,
    note_uploading,
    open_writer,
    request_flush,
    request_write,
)

__all__ = [
    "CommitDetails",
    "NamedLayer",
    "abandon_writer",
    "abort_write_job",
    "cancel_commit",
    "change_view",
    "commit_task",
    "complete_upload",
    "create_branch",
    "create_dataset",
    "create_tag",
    "create_view",
    "delete_branch",
    "delete_tag",
    "delete_view",
    "dismiss_ended_operations",
    "dismiss_operation",
    "note_uploading",
    "open_write_job",
    "open_writer",
    "pin",
    "preview_operation",
    "publish_layer",
    "quarantine_pack",
    "request_commit",
    "request_flush",
    "request_folder_labels",
    "request_job_commit",
    "request_operation",
    "request_split",
    "request_write",
    "start_upload",
    "unpin",
]
