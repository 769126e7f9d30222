"""Publishing a layer as a new version: the files stay, what is known of them changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from atom.accounts.models import User
from atom.core import clock
from atom.datasets.actions.branches import (
    MAIN,
    BranchMove,
    check_not_staging,
    head_commit,
    move_branch,
)
from atom.datasets.building import building
from atom.datasets.engines.versions import publish_rows
from atom.datasets.errors import EmptyCommit, HeadMoved, RefNotFound
from atom.datasets.models import Branch, Dataset, Version
from atom.datasets.stores import version_store
from atom_sdk.manifests.commits import Commit, write_commit
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.layers import layer_schema
from atom_sdk.manifests.roots import write_root

_ATTEMPTS = 5


@dataclass(frozen=True)
class LayerCommit:
    """The commit that carries a layer.

    With `created_at` given, publishing again makes the same commit.
    """

    message: str
    author: User | None
    provenance: dict[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None


def publish_layer(  # noqa: PLR0913  # what labeling knows, one by one
    dataset: Dataset,
    branch: str,
    layer: pa.Table,
    name: str,
    kind: str,
    message: str,
    author: User | None,
    provenance: dict[str, Any],
    created_at: datetime | None = None,
) -> Version:
    """Add rows to a layer (replacing them by path) as a new head of `branch`; returns its version.

    Rows whose path no longer has that digest are left out. When the branch moves meanwhile, the
    rows are applied to its new head. The same rows again give the present head.
    Raises RefNotFound, EmptyCommit for a branch without a version, StagingBranchReserved,
    LayerKindError.
    """
    rows = conform(layer, kind)
    commit = LayerCommit(message, author, provenance, created_at or clock.now())
    for attempt in range(_ATTEMPTS):
        try:
            with building(dataset.project):
                return _publish_once(dataset, branch or MAIN, (name, kind, rows), commit)
        except HeadMoved:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


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
    return pa.Table.from_arrays(columns, schema=schema).sort_by("path")


def _publish_once(
    dataset: Dataset, branch_name: str, layer: tuple[str, str, pa.Table], commit: LayerCommit
) -> Version:
    branch = Branch.objects.select_related("head").filter(dataset=dataset, name=branch_name).first()
    if branch is None:
        raise RefNotFound(f"{dataset.name} has no branch {branch_name}.")
    check_not_staging(branch)
    if branch.head is None:
        raise EmptyCommit(f"{dataset.name} has no files to label.")
    store = version_store(dataset.project)
    name, kind, rows = layer
    before = store.root(branch.head.readable_root)
    root = publish_rows(before, name, kind, rows, store.store)
    if root.says_the_same(before):
        return branch.head
    document = Commit(
        dataset=f"{dataset.project.slug}/{dataset.name}",
        root=write_root(root, store.store),
        parents=(bytes.fromhex(branch.head.commit),),
        author=commit.author.username if commit.author else "",
        message=commit.message,
        created_at=commit.created_at or clock.now(),
        provenance=commit.provenance,
    )
    digest = write_commit(document, store.store).hex()
    return move_branch(BranchMove(dataset, branch_name, head_commit(branch), digest))
