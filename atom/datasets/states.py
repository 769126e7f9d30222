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
    "pending": {"building", "failed"},
    "building": {"published", "failed", "conflict", "pending"},
    "published": set(),
    "failed": set(),
    "conflict": set(),
}

# How a commit comes about.
OPERATIONS = ("push", "merge", "revert", "cherry_pick", "edit")
