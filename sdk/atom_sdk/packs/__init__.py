"""Packs: immutable, content-addressed tar files that hold a dataset's bytes. Format: README.md."""

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.packs.indexer import index_pack, verify_pack
    from atom_sdk.packs.paths import case_collisions, encode_path
    from atom_sdk.packs.plan import PackLimits, PackPlan, SourceFile, plan_packs
    from atom_sdk.packs.store import PackStore, covered_packs
    from atom_sdk.packs.walk import FolderListing, hash_file, walk_folder
    from atom_sdk.packs.writer import (
        FileSink,
        PackMember,
        PackSummary,
        PackWriter,
        Sink,
        write_pack,
    )

__all__ = [
    "FileSink",
    "FolderListing",
    "PackLimits",
    "PackMember",
    "PackPlan",
    "PackStore",
    "PackSummary",
    "PackWriter",
    "Sink",
    "SourceFile",
    "case_collisions",
    "covered_packs",
    "encode_path",
    "hash_file",
    "index_pack",
    "plan_packs",
    "verify_pack",
    "walk_folder",
    "write_pack",
]

_MODULES = {
    "indexer": ("index_pack", "verify_pack"),
    "paths": ("case_collisions", "encode_path"),
    "plan": ("PackLimits", "PackPlan", "SourceFile", "plan_packs"),
    "store": ("PackStore", "covered_packs"),
    "walk": ("FolderListing", "hash_file", "walk_folder"),
    "writer": ("FileSink", "PackMember", "PackSummary", "PackWriter", "Sink", "write_pack"),
}
if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
