"""Publishing a layer as a new version: the files stay, what is known of them changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.catalog.stores import version_store
from atom.datasets.commits.actions.branches import (
    MAIN,
    check_not_staging,
)
from atom.datasets.commits.actions.commit_root import (
    CommitDetails,
    commit_root,
    retry_on_moved_head,
)
from atom.datasets.errors import EmptyCommit, RefNotFound
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import Branch, Dataset, Version
from atom.datasets.sentences import branch_unknown
from atom.datasets.versions.engines.object_layers import MergeRows
from atom.datasets.versions.engines.versions import publish_rows
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.layers.layers import layer_schema, merge_layer
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, with_contents
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

# Details that depend on the version to which the rows are added.
DetailsOf = Callable[[Root], CommitDetails]


@dataclass(frozen=True, slots=True)
class NamedLayer:
    """Rows by path under the name of a layer; they have the columns of its kind.

    `merge` makes the rows of a piece from those before and those that come, in a layer of objects;
    without it the latter replace the former by path.
    """

    name: str
    kind: str
    rows: pa.Table
    merge: MergeRows = merge_layer


def publish_layer(
    dataset: Dataset, branch: str, layer: NamedLayer, details: CommitDetails | DetailsOf
) -> Version:
    """Add rows to a layer (replacing them by path) as a new head of `branch`; returns its version.

    Rows whose path no longer has that digest are left out. When the branch moves meanwhile, the
    rows are applied to its new head. The same rows again give the present head; with the same
    details, publishing again makes the same commit.
    Raises RefNotFound, EmptyCommit for a branch without a version, StagingBranchReserved,
    LayerKindError.
    """
    checked = replace(layer, rows=conform(layer.rows, layer.kind))
    target = (dataset, branch or MAIN)
    return retry_on_moved_head(lambda _: _publish_once(target, checked, details))


def conform(layer: pa.Table, kind: str) -> pa.Table:
    """Return the table with exactly the columns of its kind; digests may come as hex digits."""
    schema = layer_schema(kind)
    columns = []
    for wanted in schema:
        if wanted.name not in layer.column_names:
            columns.append(pa.nulls(len(layer), wanted.type))
        elif wanted.type == DIGEST and pa.types.is_string(layer.schema.field(wanted.name).type):
            raw = [bytes.fromhex(text) for text in layer[wanted.name].to_pylist()]
            columns.append(pa.array(raw, DIGEST))
        else:
            columns.append(layer[wanted.name].cast(wanted.type))
    rows = pa.Table.from_arrays(columns, schema=schema)
    if kind == OBJECTS_KIND:
        rows = with_contents(rows)
    # Sorting copies: large rows may lie in a file that is mapped.
    return rows if _is_in_order(rows["path"]) else rows.sort_by("path")


def _is_in_order(paths: pa.ChunkedArray) -> bool:
    earlier, later = paths.slice(0, max(len(paths) - 1, 0)), paths.slice(1)
    return bool(pc.all(pc.less(earlier, later), min_count=0).as_py())


def _publish_once(
    target: tuple[Dataset, str], layer: NamedLayer, details: CommitDetails | DetailsOf
) -> Version:
    with hold_gc(target[0].project):
        return _publish_on_head(target, layer, details)


def _publish_on_head(
    target: tuple[Dataset, str], layer: NamedLayer, details: CommitDetails | DetailsOf
) -> Version:
    dataset, branch_name = target
    branch = Branch.objects.select_related("head").filter(dataset=dataset, name=branch_name).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, branch_name))
    check_not_staging(branch)
    if branch.head is None:
        raise EmptyCommit(
            Sentence(
                "labeling.no_files_to_label",
                "{dataset} has no files to label.",
                dataset=dataset.name,
            )
        )
    store = version_store(dataset.project)
    before = store.root(branch.head.readable_root)
    root = publish_rows(before, layer.name, layer.kind, layer.rows, store.store, merge=layer.merge)
    if root.says_the_same(before):
        return branch.head
    if not isinstance(details, CommitDetails):
        details = details(before)
    return commit_root(target, root, [branch.head.commit], details, store.store)
