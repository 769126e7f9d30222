"""State tables and other fixed words of the data plane's writes."""

PACK_STATES: dict[str, set[str]] = {
    "uploading": {"verifying", "verified", "quarantined"},
    "verifying": {"verified", "quarantined", "uploading"},
    "verified": {"quarantined"},
    "quarantined": {"uploading"},
}

UPLOAD_STATES: dict[str, set[str]] = {
    "open": {"uploaded", "aborted"},
    "uploaded": {"verifying", "aborted"},
    "verifying": {"verified", "quarantined", "uploaded"},
    "verified": set(),
    "quarantined": set(),
    "aborted": set(),
}

COMMIT_STATES: dict[str, set[str]] = {
    "pending": {"building", "failed", "cancelled"},
    "building": {"published", "failed", "conflict", "pending", "cancelled"},
    "published": set(),
    "failed": set(),
    "conflict": set(),
    "cancelled": set(),
}

GARBAGE_RUN_STATES: dict[str, set[str]] = {
    "running": {"done", "failed"},
    "done": set(),
    "failed": set(),
}

# A pardoned object is kept for another window; if it is not needed by then, it is condemned again.
CONDEMNED_STATES: dict[str, set[str]] = {
    "condemned": {"pardoned", "spared", "deleted"},
    "pardoned": {"expired"},
    "expired": set(),
    "spared": set(),
    "deleted": set(),
}

# Expired: nobody reads it, and it can be restored until it is collected with its files.
VERSION_STATES: dict[str, set[str]] = {
    "kept": {"expired"},
    "expired": {"kept", "collected"},
    "collected": set(),
}

RETENTION_KINDS = ("all", "last", "days")

# The states of a place that data is registered from.
SOURCE_STATES: dict[str, set[str]] = {
    "new": {"scanning", "removed"},
    "scanning": {"ready", "failed", "new", "removed"},
    "ready": {"scanning", "drifted", "removed"},
    "drifted": {"scanning", "removed"},
    "failed": {"scanning", "removed"},
    "removed": set(),
}

SCAN_STATES: dict[str, set[str]] = {
    "pending": {"listing", "failed", "cancelled"},
    "listing": {"committing", "failed", "cancelled"},
    "committing": {"done", "failed"},
    "done": set(),
    # The listing stays for a while, so that a retry resumes it.
    "failed": {"pending"},
    "cancelled": set(),
}
ACTIVE_SCANS = ("pending", "listing", "committing")
# Packs and changes are parts of a push; labels are read by an import of labels.
UPLOAD_KINDS = ("pack", "changes", "labels")
# How a commit comes about.
OPERATIONS = ("push", "merge", "revert", "cherry_pick", "edit", "write", "load")
# A writer's commits end with the writer, and a load with its client.
CANCELLABLE_OPERATIONS = ("push", "merge", "revert", "cherry_pick", "edit")

# A writer's files are safe from PERSISTED on; it may write until it is committed. Writers of a
# write job are committed with the job, at once.
WRITER_STATES: dict[str, set[str]] = {
    "writing": {"uploading", "committed", "abandoned"},
    "uploading": {"persisted", "writing", "committing", "committed", "abandoned"},
    "persisted": {"uploading", "committing", "committed", "abandoned"},
    "committing": {"committed", "persisted"},
    "committed": set(),
    "abandoned": set(),
}
OPEN_WRITERS = ("writing", "uploading", "persisted", "committing")

WRITE_JOB_STATES: dict[str, set[str]] = {
    "open": {"committing", "aborted"},
    "committing": {"committed", "open"},
    "committed": set(),
    "aborted": set(),
}
OPEN_WRITE_JOBS = ("open", "committing")


UPLOADING = ("open", "uploaded", "verifying")

# The tiles of a large picture. Cleared: nobody looked at them for long, or the picture is gone.
PYRAMID_STATES: dict[str, set[str]] = {
    "waiting": {"making", "failed", "cleared"},
    "making": {"ready", "failed", "waiting", "cleared"},
    "ready": {"cleared"},
    "failed": {"waiting", "cleared"},
    "cleared": {"waiting"},
}

# A version in a second store. Copied packs are read again before the version counts as there; a
# reader that met a wrong pack, or another layout, sends it back to waiting.
REPLICA_STATES: dict[str, set[str]] = {
    "waiting": {"copying", "failed", "removing"},
    "copying": {"verifying", "waiting", "failed", "removing"},
    "verifying": {"there", "waiting", "failed", "removing"},
    "there": {"waiting", "removing"},
    "failed": {"waiting", "removing"},
    "removing": set(),
}
# Readers get addresses of these, pack by pack, once the replica was verified for the first time.
LIVE_REPLICAS = ("waiting", "copying", "verifying", "there")

# Copied: its bytes were not read back yet. Wrong: they are not those of its digest.
STORED_PACK_STATES: dict[str, set[str]] = {
    "copied": {"there", "wrong"},
    "there": {"copied"},
    "wrong": {"copied"},
}
