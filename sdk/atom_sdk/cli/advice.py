"""The next step as a command: the server's own advice is the same for every caller."""

from __future__ import annotations

_LIST_WRITERS = "List them: atom data writer list DATASET"
# By the code of the failure.
ADVICE = {
    "already_member": "Change the role: atom member role NAME ROLE",
    "archive_history_differs": (
        "Load the archive under another name: atom data archive load FOLDER --name NAME"
    ),
    "archive_refused": (
        "Check it where it lies: atom data archive check FOLDER; then load it again."
    ),
    "branch_empty": "Push a folder to it: atom data push FOLDER DATASET",
    "cluster_in_use": (
        "Keep new runs off it, and wait for those that are there: atom cluster drain NAME"
    ),
    "cluster_not_found": "List them: atom cluster ls",
    "dataset_deleted": (
        "An administrator can take it back until it is collected: atom data undelete DATASET"
    ),
    "dataset_held": "Release its holds first: atom data hold list DATASET",
    "hold_unknown": "List them: atom data hold list DATASET",
    "last_administrator": "Make somebody else an administrator first: atom member role NAME admin",
    "merge_conflict": (
        "Look at the conflicts; then do it again with --take ours:PATH or --take theirs:PATH for "
        "each of them, or --ours or --theirs for all, which say whose side counts where both "
        "changed, or change one of the sides first."
    ),
    "not_movable": "Start a copy and choose there: atom clone RUN; atom run --cluster NAME",
    "not_retryable": (
        "Wait until it is over, or stop it with 'atom cancel RUN'; if it has succeeded, "
        "'atom clone RUN' does the same once more."
    ),
    "notification_not_found": "List them: atom notifications",
    "ref_not_found": (
        "'atom data log DATASET' lists its versions, 'atom data branch DATASET' its branches and "
        "tags."
    ),
    "run_changed": "Read them again: atom note RUN; then change them once more.",
    "secrets_missing": "Set it again: atom secret set NAME; then retry: atom retry RUN",
    "run_archived": "Bring it back first: atom archive --undo RUN",
    "source_not_found": "List the sources: atom source ls",
    "split_impossible": (
        "Ask for fewer samples in the split; a file that is in a split stays there unless all are "
        "drawn anew with --redraw."
    ),
    "split_redraw": (
        "Add --redraw to draw all files anew; results on the old split no longer compare."
    ),
    "split_unlabelled": (
        "Label the files first, take labels from class folders by pushing with --labels folder, or "
        "split with --no-stratify."
    ),
    "staging_branch_reserved": (
        "Write through the writer, or commit or abandon it: atom data writer list DATASET"
    ),
    "too_many_writers": "Commit or abandon some of them: atom data writer list DATASET",
    "too_many_shares": "End some of them: atom share RUN --list, atom share RUN --end ID",
    "too_many_secrets": "Remove those that nothing uses: atom secret ls, atom secret rm NAME",
    "version_expired": (
        "Use a newer version; an administrator can restore this one until its files are collected: "
        "atom data restore DATASET@VERSION"
    ),
    "view_not_found": "List its views: atom data views list DATASET",
    "write_job_unknown": _LIST_WRITERS,
    "writer_unknown": _LIST_WRITERS,
}
