"""Manifests: which files a dataset version holds, where their bytes lie, and what is known of them.

Format: README.md.
"""

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.manifests.build import Changes, apply_changes, build_root, compact, read_range
    from atom_sdk.manifests.commits import (
        Commit,
        decode_commit,
        encode_commit,
        read_commit,
        write_commit,
    )
    from atom_sdk.manifests.diff.diff import LayerDiff, Rename, RootDiff, diff_roots
    from atom_sdk.manifests.entries import ENTRY_SCHEMA, Entry, entries_table, table_entries
    from atom_sdk.manifests.joined import iter_ranges
    from atom_sdk.manifests.layers.layers import layer_table, merge_layer, read_layer, write_layer
    from atom_sdk.manifests.listing import EntryPage, FolderPage, Listing, PrefixTotals
    from atom_sdk.manifests.merge.merge import Merged, MergePlan, merge_roots
    from atom_sdk.manifests.merge.resolution import Resolution
    from atom_sdk.manifests.merge.three_way import Conflict, Policy
    from atom_sdk.manifests.objects import (
        FolderObjectStore,
        MemoryObjectStore,
        ObjectStore,
        commit_key,
        layer_key,
        pack_key,
        range_key,
        root_key,
    )
    from atom_sdk.manifests.query import Query, QueryError, matching, parse_query
    from atom_sdk.manifests.ranges.ranges import BoundaryRule
    from atom_sdk.manifests.roots.roots import (
        LayerRef,
        RangeRef,
        Root,
        decode_root,
        encode_root,
        read_root,
        write_root,
    )
    from atom_sdk.manifests.splits.groups import assign_groups
    from atom_sdk.manifests.splits.requests import SplitInput, SplitRequest, draw, group_of
    from atom_sdk.manifests.splits.splits import SplitPlan, assign_splits, largest_remainder
    from atom_sdk.manifests.views import ViewSelector, build_view, pack_table

__all__ = [
    "ENTRY_SCHEMA",
    "BoundaryRule",
    "Changes",
    "Commit",
    "Conflict",
    "Entry",
    "EntryPage",
    "FolderObjectStore",
    "FolderPage",
    "LayerDiff",
    "LayerRef",
    "Listing",
    "MemoryObjectStore",
    "MergePlan",
    "Merged",
    "ObjectStore",
    "Policy",
    "PrefixTotals",
    "Query",
    "QueryError",
    "RangeRef",
    "Rename",
    "Resolution",
    "Root",
    "RootDiff",
    "SplitInput",
    "SplitPlan",
    "SplitRequest",
    "ViewSelector",
    "apply_changes",
    "assign_groups",
    "assign_splits",
    "build_root",
    "build_view",
    "commit_key",
    "compact",
    "decode_commit",
    "decode_root",
    "diff_roots",
    "draw",
    "encode_commit",
    "encode_root",
    "entries_table",
    "group_of",
    "iter_ranges",
    "largest_remainder",
    "layer_key",
    "layer_table",
    "matching",
    "merge_layer",
    "merge_roots",
    "pack_key",
    "pack_table",
    "parse_query",
    "range_key",
    "read_commit",
    "read_layer",
    "read_range",
    "read_root",
    "root_key",
    "table_entries",
    "write_commit",
    "write_layer",
    "write_root",
]

_MODULES = {
    "build": ("Changes", "apply_changes", "build_root", "compact", "read_range"),
    "commits": ("Commit", "decode_commit", "encode_commit", "read_commit", "write_commit"),
    "diff.diff": ("LayerDiff", "Rename", "RootDiff", "diff_roots"),
    "entries": ("ENTRY_SCHEMA", "Entry", "entries_table", "table_entries"),
    "joined": ("iter_ranges",),
    "layers.layers": ("layer_table", "merge_layer", "read_layer", "write_layer"),
    "listing": ("EntryPage", "FolderPage", "Listing", "PrefixTotals"),
    "merge.merge": ("Merged", "MergePlan", "merge_roots"),
    "objects": (
        "FolderObjectStore",
        "MemoryObjectStore",
        "ObjectStore",
        "commit_key",
        "layer_key",
        "pack_key",
        "range_key",
        "root_key",
    ),
    "query": ("Query", "QueryError", "matching", "parse_query"),
    "ranges.ranges": ("BoundaryRule",),
    "roots.roots": (
        "LayerRef",
        "RangeRef",
        "Root",
        "decode_root",
        "encode_root",
        "read_root",
        "write_root",
    ),
    "splits.groups": ("assign_groups",),
    "splits.requests": ("SplitInput", "SplitRequest", "draw", "group_of"),
    "splits.splits": ("SplitPlan", "assign_splits", "largest_remainder"),
    "merge.resolution": ("Resolution",),
    "merge.three_way": ("Conflict", "Policy"),
    "views": ("ViewSelector", "build_view", "pack_table"),
}
if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
