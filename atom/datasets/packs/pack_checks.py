"""Entries against the packs that are verified in the same project: a digest is no capability."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from atom.accounts.models import Project
from atom.core.storage import project_store
from atom.datasets.errors import EntryNotInPack, PackNotVerified
from atom.datasets.models import Pack, Upload
from atom.datasets.packs.engines.pack_index import first_mismatch, locate
from atom.datasets.packs.pipelines import read_pack_index
from atom.datasets.versions.engines.changes import mark_unreadable
from atom.datasets.versions.engines.spilled import Entries
from atom_sdk.manifests.entries import ENTRY_SCHEMA, LINK_COLUMN
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.rows.spilled_rows import SpilledRows, spill_rows
from atom_sdk.sentences import Sentence


class PacksOnTheWay(Exception):
    """A commit needs packs that are uploaded but not verified yet: look again in a moment."""

    def __init__(self, uploads: Sequence[UUID] = ()) -> None:
        """`uploads` may be at a worker, or still be waiting for one."""
        super().__init__(f"{len(uploads)} uploads are not verified yet.")
        self.uploads = uploads


def check_all_puts(project: Project, puts: Entries, scratch: Path) -> Entries:
    """Do what `check_puts` does, piece by piece where the entries are in a file."""
    if not isinstance(puts, SpilledRows):
        return check_puts(project, puts)
    pieces = (check_puts(project, piece) for piece in puts.tables() if len(piece))
    return spill_rows(pieces, ENTRY_SCHEMA, scratch / "checked.arrow")


def check_puts(project: Project, puts: pa.Table) -> pa.Table:
    """Return the entries with what the worker knows of them, each checked against its pack.

    Links are in no pack; their check was the one of the changes file.
    Raises EntryNotInPack, PackNotVerified or PacksOnTheWay.
    """
    files = without_links(puts)
    packs = sorted(files["pack"].unique().to_pylist())
    _require_verified(project, [pack.hex() for pack in packs])
    pieces = [puts.filter(puts[LINK_COLUMN].is_valid())]
    for pack in packs:
        entries = files.filter(pc.equal(files["pack"], pa.scalar(pack, pa.binary(32))))
        pieces.append(_check_pack(project, pack.hex(), entries.combine_chunks()))
    return pa.concat_tables(pieces).sort_by("path").combine_chunks()


def _require_verified(project: Project, digests: list[str]) -> None:
    states = dict(
        Pack.objects.filter(project=project, digest__in=digests).values_list("digest", "state")
    )
    missing = [digest for digest in digests if states.get(digest) != "verified"]
    if not missing:
        return
    coming = Upload.objects.filter(
        dataset__project=project,
        kind="pack",
        digest__in=missing,
        state__in=["uploaded", "verifying"],
    )
    if coming.values("digest").distinct().count() == len(missing):
        raise PacksOnTheWay([*coming.order_by("created_at").values_list("pk", flat=True)])
    found = states.get(missing[0], "not uploaded")
    raise PackNotVerified(
        Sentence(
            "datasets.pack_not_usable",
            "The pack {pack} is {state} in this project.",
            pack=missing[0],
            state=found,
        )
    )


def _check_pack(project: Project, pack: str, entries: pa.Table) -> pa.Table:
    index = read_pack_index(project_store(project), pack)
    wrong = first_mismatch(index, entries)
    if wrong is not None:
        path = entries["path"][wrong].as_py()
        offset = entries["offset"][wrong].as_py()
        raise EntryNotInPack(
            Sentence(
                "datasets.pack_holds_other_bytes",
                "{path} differs from the bytes that the pack {pack} holds at byte {offset}.",
                path=repr(path),
                pack=pack,
                offset=offset,
            ),
            path=path,
            pack=pack,
        )
    rows = locate(index, entries["offset"].to_numpy())
    reasons = index["unreadable"].take(pa.array(rows)).to_pylist()
    given = entries["attributes"].to_pylist()
    marked = [mark_unreadable(*pair) for pair in zip(given, reasons, strict=True)]
    position = ENTRY_SCHEMA.get_field_index("attributes")
    column = pa.array(marked, pa.string())
    return entries.set_column(position, ENTRY_SCHEMA.field(position), column)
