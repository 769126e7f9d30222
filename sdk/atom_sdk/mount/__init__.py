"""Shows a version of a dataset as a folder. Ways and formats: README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atom_sdk.mount.mounting import MountOptions, mount, mounted_below, mounts, unmount
    from atom_sdk.mount.records import MountRecord

__all__ = ["MountOptions", "MountRecord", "mount", "mounted_below", "mounts", "unmount"]


def __getattr__(name: str) -> Any:
    # Loaded when used: the command line needs the names and errors below only, and starts sooner.
    if name not in __all__:
        raise AttributeError(name)
    from atom_sdk.mount import mounting

    return getattr(mounting, name)
