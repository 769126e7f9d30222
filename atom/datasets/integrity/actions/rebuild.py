"""Rebuilding the catalogue from the bucket: in a schema of its own, compared, then put in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection, models, transaction

from atom.accounts import audit
from atom.accounts.models import Project
from atom.datasets import keys
from atom.datasets.catalog import catalogue_log, ref_log
from atom.datasets.commits.actions.repair import repair_everywhere
from atom.datasets.integrity.rebuild import Rebuilt, read_catalogue, read_datasets
from atom.datasets.models import Branch, Dataset, LegalHold, Pack, SavedView, Tag, Version
from atom.datasets.retention.errors import CatalogueNotEmpty

_SCRATCH: LiteralString = "catalogue_scratch"
# In an order in which rows can be put in place.
_TABLES: tuple[type[models.Model], ...] = (
    Dataset, Version, Branch, Tag, LegalHold, SavedView, Pack,
)  # fmt: skip

# Columns that must be equal on both sides, by kind of row. Older installations did not write some
# ids of rows down. They are left out, since the commits identify the rows.
_COMPARED: dict[str, LiteralString] = {
    "dataset": """
        SELECT d.name, d.description, d.created_by_id, d.created_at, d.retention,
               d.retention_limit, d.deleted_at, d.deleted_by_id, d.purged_at
        FROM {schema}.datasets_dataset d WHERE {which}""",
    "version": """
        SELECT d.name, v.commit, v.number, v.root, v.content_digest, v.parents,
               v.file_count + coalesce(v.link_count, 0), v.size_bytes,
               v.added, v.removed, v.changed, v.labels_changed, v.message,
               v.author_id, v.author_name, v.provenance, v.layers, v.state, v.expired_at
        FROM {schema}.datasets_version v
        JOIN {schema}.datasets_dataset d ON d.id = v.dataset_id WHERE {which}""",
    "branch": """
        SELECT d.name, b.name, v.commit, b.seq
        FROM {schema}.datasets_branch b
        JOIN {schema}.datasets_dataset d ON d.id = b.dataset_id
        LEFT JOIN {schema}.datasets_version v ON v.id = b.head_id WHERE {which}""",
    "tag": """
        SELECT d.name, t.name, v.commit, t.created_at
        FROM {schema}.datasets_tag t
        JOIN {schema}.datasets_dataset d ON d.id = t.dataset_id
        JOIN {schema}.datasets_version v ON v.id = t.version_id WHERE {which}""",
    "hold": """
        SELECT d.name, v.commit, h.reason, h.placed_by_id, h.created_at, h.released_at,
               h.released_by_id
        FROM {schema}.datasets_legalhold h
        JOIN {schema}.datasets_dataset d ON d.id = h.dataset_id
        LEFT JOIN {schema}.datasets_version v ON v.id = h.version_id WHERE {which}""",
    "view": """
        SELECT d.name, s.name, s."where", s.prefix, s.splits, s.created_by_id, s.created_at
        FROM {schema}.datasets_savedview s
        JOIN {schema}.datasets_dataset d ON d.id = s.dataset_id WHERE {which}""",
}
_LOST_PACKS: LiteralString = """
    SELECT p.digest FROM {live}.datasets_pack p WHERE p.project_id = %s AND p.state = 'verified'
    EXCEPT SELECT p.digest FROM {scratch}.datasets_pack p WHERE p.state = 'verified'"""

# One that only the bucket knows is of a worker that died, and does no harm.
_LOST_LAYOUTS: LiteralString = """
    SELECT v.commit FROM {live}.datasets_version v
    JOIN {live}.datasets_dataset d ON d.id = v.dataset_id
    WHERE {which} AND v.is_repacked AND v.state <> 'collected'
    EXCEPT SELECT v.commit FROM {scratch}.datasets_version v WHERE v.is_repacked"""

# A version from before links were counted apart has no number of them yet.
_OTHER_LINKS: LiteralString = """
    SELECT v.commit FROM {live}.datasets_version v
    JOIN {live}.datasets_dataset d ON d.id = v.dataset_id
    JOIN {scratch}.datasets_version s ON s.dataset_id = v.dataset_id AND s.commit = v.commit
    WHERE {which} AND v.link_count <> s.link_count"""


@dataclass
class Comparison:
    """The differences between the bucket and the catalogue; empty lists when they agree."""

    only_in_catalogue: list[str] = field(default_factory=list)
    only_in_bucket: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        """Return whether the catalogue can be rebuilt exactly."""
        return not (self.only_in_catalogue or self.only_in_bucket or self.problems)

    def by_title(self) -> list[tuple[str, list[str]]]:
        """Return what differs, under a title each."""
        return [
            ("only in the catalogue", self.only_in_catalogue),
            ("only in the bucket", self.only_in_bucket),
            ("problem", self.problems),
        ]

    def lines(self) -> list[str]:
        """Return one sentence per difference."""
        return [f"{title}: {line}" for title, lines in self.by_title() for line in lines]

    def add(self, other: Comparison) -> None:
        """Take in what was found in other datasets."""
        self.only_in_catalogue += other.only_in_catalogue
        self.only_in_bucket += other.only_in_bucket
        self.problems += other.problems
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


def compare_catalogue(project: Project) -> Comparison:
    """Rebuild a project's catalogue beside the live one and compare them. Changes nothing."""
    rebuilt = read_catalogue(project)
    with _scratch(rebuilt) as live:
        return _compare(project, rebuilt, live)


def compare_datasets(project: Project, ids: Sequence[UUID]) -> Comparison:
    """Compare some datasets of a project in the same way, and no packs. Changes nothing."""
    rebuilt = read_datasets(project, ids)
    with _scratch(rebuilt) as live:
        found = Comparison(problems=list(rebuilt.problems), counts=_counts(rebuilt))
        _compare_rows(found, live, "d.project_id = %s AND d.id = ANY(%s)", [project.pk, list(ids)])
    return found


def apply_catalogue(project: Project) -> Comparison:
    """Put the rebuilt catalogue in place of an empty one. Raises CatalogueNotEmpty."""
    rebuilt = read_catalogue(project)
    with transaction.atomic():
        if Dataset.with_deleted.filter(project=project).exists():
            raise CatalogueNotEmpty
        Pack.objects.filter(project=project).delete()
        with _scratch(rebuilt) as live, connection.cursor() as cursor:
            for model in _TABLES:
                table = model._meta.db_table
                cursor.execute(f"INSERT INTO {live}.{table} SELECT * FROM {_SCRATCH}.{table}")
            comparison = _compare(project, rebuilt, live)
        audit.record(None, "catalogue.reconstructed", project, project, **comparison.counts)
    # Older installations did not write layouts down: commits name packs that others have replaced.
    repair_everywhere(project.pk)
    return comparison


def write_missing_documents(project: Project) -> int:
    """Write what an older installation did not write to the bucket; returns how many documents."""
    written = 0
    for dataset in Dataset.with_deleted.filter(project=project).select_related("project"):
        if not dataset.revision:
            catalogue_log.write_dataset(dataset)
            written += 1
        for branch in dataset.branches.select_related("head", "dataset__project"):
            if not branch.seq and ref_log.read_move(branch, 0) is None:
                ref_log.write_beginning(branch)
                written += 1
        for tag in dataset.tags.select_related("version", "dataset__project"):
            if not catalogue_log.has_document(dataset, keys.tag_key(dataset.pk, tag.name)):
                catalogue_log.write_tag(tag)
                written += 1
    return written


@contextmanager
def _scratch(rebuilt: Rebuilt) -> Iterator[str]:
    """Save the rows into tables of a schema that is gone afterwards; gives the live schema."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        live = connection.ops.quote_name(cursor.fetchone()[0])
        cursor.execute(f"CREATE SCHEMA {_SCRATCH}")
        for model in _TABLES:
            table = model._meta.db_table
            cursor.execute(f"CREATE TABLE {_SCRATCH}.{table} (LIKE {live}.{table} INCLUDING ALL)")
        cursor.execute(f"SET LOCAL search_path = {_SCRATCH}, {live}")
        _save(rebuilt)
        cursor.execute(f"SET LOCAL search_path = {live}")
        yield live
        cursor.execute(f"DROP SCHEMA {_SCRATCH} CASCADE")


def _save(rebuilt: Rebuilt) -> None:
    rows: Sequence[Sequence[Any]] = (
        rebuilt.datasets,
        rebuilt.versions,
        rebuilt.branches,
        rebuilt.tags,
        rebuilt.holds,
        rebuilt.saved_views,
        rebuilt.packs,
    )
    for model, found in zip(_TABLES, rows, strict=True):
        times = [row.created_at for row in found]
        model._base_manager.bulk_create(found, batch_size=1000)
        # Creating sets the time of creation to now.
        told = [(row, time) for row, time in zip(found, times, strict=True) if time is not None]
        for row, time in told:
            row.created_at = time
        changed = [row for row, _ in told]
        model._base_manager.bulk_update(changed, ["created_at"], batch_size=1000)


def _compare(project: Project, rebuilt: Rebuilt, live: str) -> Comparison:
    found = Comparison(problems=list(rebuilt.problems), counts=_counts(rebuilt))
    _compare_rows(found, live, "d.project_id = %s", [project.pk])
    with connection.cursor() as cursor:
        cursor.execute(_LOST_PACKS.format(live=live, scratch=_SCRATCH), [project.pk])
        found.only_in_catalogue += [f"pack {digest}" for (digest,) in cursor.fetchall()]
    found.counts["packs"] = len(rebuilt.packs)
    return found


def _compare_rows(
    found: Comparison, live: str, which: LiteralString, parameters: list[Any]
) -> None:
    with connection.cursor() as cursor:
        for name, query in _COMPARED.items():
            ours, theirs = (query.format(schema=schema, which=which) for schema in (live, _SCRATCH))
            cursor.execute(f"{ours} EXCEPT {theirs}", [*parameters, *parameters])
            found.only_in_catalogue += [f"{name} {_shown(row)}" for row in cursor.fetchall()]
            cursor.execute(f"{theirs} EXCEPT {ours}", [*parameters, *parameters])
            found.only_in_bucket += [f"{name} {_shown(row)}" for row in cursor.fetchall()]
        lost = _LOST_LAYOUTS.format(live=live, scratch=_SCRATCH, which=which)
        cursor.execute(lost, parameters)
        found.only_in_catalogue += [f"layout of {commit}" for (commit,) in cursor.fetchall()]
        other = _OTHER_LINKS.format(live=live, scratch=_SCRATCH, which=which)
        cursor.execute(other, parameters)
        found.only_in_catalogue += [f"links of {commit}" for (commit,) in cursor.fetchall()]


def _counts(rebuilt: Rebuilt) -> dict[str, int]:
    return {
        "datasets": len(rebuilt.datasets),
        "versions": len(rebuilt.versions),
        "branches": len(rebuilt.branches),
        "tags": len(rebuilt.tags),
    }


def _shown(row: Sequence[Any]) -> str:
    return " ".join("-" if value is None else str(value) for value in row)[:300]
