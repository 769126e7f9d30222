"""Atom SDK: datasets, runs and models of an Atom installation.

Names are imported when first used, so `import atom_sdk` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atom_sdk.client import Client
    from atom_sdk.client.shortcuts import open
    from atom_sdk.errors import AtomError
    from atom_sdk.packs import PackStore
    from atom_sdk.readers import LocalDataset, Sample

__version__ = "0.1.0"
__all__ = ["AtomError", "Client", "LocalDataset", "PackStore", "Sample", "__version__", "open"]

_HOMES = {
    "AtomError": "atom_sdk.errors",
    "Client": "atom_sdk.client",
    "LocalDataset": "atom_sdk.readers",
    "PackStore": "atom_sdk.packs",
    "Sample": "atom_sdk.readers",
    "open": "atom_sdk.client.shortcuts",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
