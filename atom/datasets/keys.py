"""Where objects lie in the bucket. Keys of a project are relative to `p/<project id>/`."""

from __future__ import annotations

from uuid import UUID

STAGING = "staging/"
# The beginning of the keys of every project.
PROJECTS = "p/"
# Relative to a project's prefix.
PACKS = "packs/"


def staging_key(upload_id: UUID) -> str:
    """Return the absolute key of an upload's staged object."""
    return f"{STAGING}{upload_id}"


def pack_key(digest: str) -> str:
    """Return the key of a verified pack."""
    return f"{PACKS}{digest}.tar"


def pack_index_key(digest: str) -> str:
    """Return the key of a pack's own index, written by the worker that verified it."""
    return f"{PACKS}{digest}.index.parquet"


def quarantine_key(digest: str) -> str:
    """Return where a stored pack goes when it is found corrupt; nothing reads from there."""
    return f"quarantine/{digest}.tar"


def pyramid_key(digest: str) -> str:
    """Return the key of the tiles of the picture whose bytes have this digest."""
    return f"pyramids/{digest}.zip"


def copy_check_key(digest: str) -> str:
    """Return where a pack is copied to, to see whether the store can read it; then removed."""
    return f"checks/{digest}.tar"


def ref_log_prefix(dataset_id: UUID, branch: str) -> str:
    """Return the folder of a branch's ref log."""
    return f"refs/{dataset_id}/{branch}/"


def ref_log_key(dataset_id: UUID, branch: str, seq: int) -> str:
    """Return the key of the entry that moved a branch for the `seq`-th time."""
    return f"{ref_log_prefix(dataset_id, branch)}{seq:010d}.json"


def void_ref_log_key(dataset_id: UUID, branch: str, seq: int, commit: str) -> str:
    """Return where a ref-log entry goes whose move never came to be."""
    return f"{ref_log_prefix(dataset_id, branch)}void/{seq:010d}-{commit[:16]}.json"


def dataset_key(dataset_id: UUID, revision: int) -> str:
    """Return the key of what a dataset was after its `revision`-th change."""
    return f"datasets/{dataset_id}/{revision:010d}.json"


def tag_key(dataset_id: UUID, name: str) -> str:
    """Return the key of a tag's document."""
    return f"tags/{dataset_id}/{name}.json"


def hold_key(dataset_id: UUID, hold_id: UUID) -> str:
    """Return the key of a legal hold's document."""
    return f"holds/{dataset_id}/{hold_id}.json"


def saved_view_key(dataset_id: UUID, view_id: UUID) -> str:
    """Return the key of a saved view's document."""
    return f"views/{dataset_id}/{view_id}.json"


def version_state_key(dataset_id: UUID, commit: str) -> str:
    """Return the key of what became of a version that was expired once."""
    return f"version-states/{dataset_id}/{commit}.json"


def layout_key(dataset_id: UUID, commit: str) -> str:
    """Return the key of the layout from which a version is read."""
    return f"layouts/{dataset_id}/{commit}.json"


def replica_key(version_id: UUID) -> str:
    """Return the key of the pointer to a version in a second store, which is written last."""
    return f"replicas/{version_id}.json"


def scan_prefix(scan_id: UUID) -> str:
    """Return the folder of what a scan has listed so far; gone when its version is made."""
    return f"scans/{scan_id}/"
