"""The catalogue from the bucket: rows from ref logs, commits, roots and documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from atom.accounts.models import Project, User
from atom.core import storage
from atom.core.storage import ObjectInfo
from atom.datasets.catalog import ref_log
from atom.datasets.catalog.catalogue_log import parse_id, read_documents
from atom.datasets.catalog.engines.stored import stored_objects
from atom.datasets.catalog.ref_log import RefMove
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Branch, Dataset, LegalHold, Pack, SavedView, Tag, Version
from atom.datasets.versions.engines.versions import layer_json
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests.commits import Commit, read_commit
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.roots.roots import Root

_PACK, _INDEX = ".tar", ".index.parquet"
_MOVE = re.compile(r"refs/([0-9a-f-]{36})/([^/]+)/(\d{10})\.json")


@dataclass
class Log:
    """The moves of one branch in order, and the branch's id where it is known."""

    name: str
    branch_id: UUID | None = None
    moves: list[RefMove] = field(default_factory=list)


@dataclass
class Rebuilt:
    """Rows that are not saved yet, in an order in which they can be, and what was odd."""

    datasets: list[Dataset] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    holds: list[LegalHold] = field(default_factory=list)
    saved_views: list[SavedView] = field(default_factory=list)
    packs: list[Pack] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_catalogue(project: Project) -> Rebuilt:
    """Read everything that the bucket says of a project. Writes nothing."""
    return _Reader(project).read()


def read_datasets(project: Project, ids: Iterable[UUID]) -> Rebuilt:
    """Read what the bucket says of some datasets of a project, without its packs."""
    return _Reader(project).read_only(ids)


def stored_dataset_ids(project: Project) -> set[UUID]:
    """Return the datasets that the bucket knows of, by the names of its objects alone."""
    start = storage.project_prefix(project)
    found: set[UUID] = set()
    for folder in ("datasets/", "refs/"):
        for item in storage.objects().list_prefix(start + folder):
            with suppress(ValueError):
                found.add(UUID(item.key.removeprefix(start + folder).partition("/")[0]))
    return found


class _Reader:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.store = version_store(project)
        self.users = {user.username: user for user in User.objects.all()}
        self.rebuilt = Rebuilt()

    def read(self) -> Rebuilt:
        self._add_datasets("")
        self._add_packs()
        return self.rebuilt

    def read_only(self, ids: Iterable[UUID]) -> Rebuilt:
        for dataset_id in ids:
            self._add_datasets(f"{dataset_id}/")
        return self.rebuilt

    def _add_datasets(self, folder: str) -> None:
        logs = self._logs(folder)
        documents = self._documents(folder)
        for dataset_id in sorted(logs.keys() | documents.keys()):
            self._add_dataset(dataset_id, documents.get(dataset_id), logs.get(dataset_id, {}))

    def _logs(self, folder: str) -> dict[UUID, dict[str, Log]]:
        logs: defaultdict[UUID, dict[str, Log]] = defaultdict(dict)
        for key, document in read_documents(self.project, f"refs/{folder}"):
            place = _MOVE.fullmatch(key)
            if place is None:
                continue
            log = logs[UUID(place[1])].setdefault(place[2], Log(place[2]))
            # A name can be given again: the last branch of that name counts.
            log.branch_id = parse_id(document.get("branch_id", "")) or log.branch_id
            log.moves.append(ref_log.parse_move(document))
        return logs

    def _documents(self, folder: str) -> dict[UUID, dict[str, Any]]:
        # Keys come in order: the last document of a dataset is the present one.
        found = read_documents(self.project, f"datasets/{folder}")
        documents = (document for _, document in found)
        return {UUID(document["id"]): document for document in documents}

    def _add_dataset(
        self, dataset_id: UUID, document: dict[str, Any] | None, logs: dict[str, Log]
    ) -> None:
        versions: dict[str, Version] = {}
        dataset = Dataset(pk=dataset_id, project=self.project)
        followed = [self._branch(dataset, log, versions) for log in logs.values()]
        branches = [found for found in followed if found is not None]
        for branch, head in branches:
            branch.head = versions.get(head)
        if document is None:
            self._name_from_commit(dataset, versions.values())
        else:
            self._fill(dataset, document)
        if not dataset.name:
            self.rebuilt.problems.append(f"the dataset {dataset_id} has no document and no commit")
            return
        self._count_missing(versions, logs)
        self._add_states(dataset, versions)
        self._add_layouts(dataset, versions)
        self.rebuilt.datasets.append(dataset)
        self.rebuilt.versions += versions.values()
        self.rebuilt.branches += [branch for branch, _ in branches]
        self._add_tags(dataset, versions)
        self._add_holds(dataset, versions)
        self._add_saved_views(dataset)

    def _fill(self, dataset: Dataset, document: dict[str, Any]) -> None:
        dataset.name = document["name"]
        dataset.description = document["description"]
        dataset.created_by = self.users.get(document["created_by"])
        dataset.created_at = datetime.fromisoformat(document["created_at"])
        dataset.retention = document["retention"]
        dataset.retention_limit = document["retention_limit"]
        dataset.revision = document["revision"]
        # Older documents know nothing of deletion.
        dataset.deleted_at = _moment(document.get("deleted_at", ""))
        dataset.deleted_by = self.users.get(document.get("deleted_by", ""))
        dataset.purged_at = _moment(document.get("purged_at", ""))

    def _name_from_commit(self, dataset: Dataset, versions: Iterable[Version]) -> None:
        first = min(versions, key=lambda version: version.created_at, default=None)
        if first is not None:
            commit = read_commit(bytes.fromhex(first.commit), self.store.store)
            dataset.name = commit.dataset.rpartition("/")[2]
            dataset.created_at = first.created_at

    def _branch(
        self, dataset: Dataset, log: Log, versions: dict[str, Version]
    ) -> tuple[Branch, str] | None:
        """Follow the moves as recovery does: each continues the one before and reads whole.

        Returns the branch and the commit at its head, None for a branch that was deleted.
        """
        branch = Branch(dataset=dataset, name=log.name)
        branch.pk = log.branch_id or branch.pk
        head, is_deleted = "", False
        for move in log.moves:
            is_deleted = move.kind == "end"
            if is_deleted:
                continue
            if move.seq == 0 or move.kind == "begin":
                branch.created_at = datetime.fromisoformat(move.at)
                head, branch.seq = move.new, move.seq
            elif move.old != head or not self._add_version(dataset, move, versions):
                self.rebuilt.problems.append(
                    f"move {move.seq} of {log.name} in dataset {dataset.pk} cannot be followed"
                )
                break
            else:
                head, branch.seq = move.new, move.seq
        return None if is_deleted else (branch, head)

    def _add_version(self, dataset: Dataset, move: RefMove, versions: dict[str, Version]) -> bool:
        known = versions.get(move.new)
        if known is not None:
            known.number = known.number or move.number
            return True
        try:
            commit = read_commit(bytes.fromhex(move.new), self.store.store)
            root = self.store.root(commit.root.hex())
        except SdkError as exc:
            self.rebuilt.problems.append(str(exc))
            return False
        versions[move.new] = self._version(dataset, move, commit, root)
        return True

    def _version(self, dataset: Dataset, move: RefMove, commit: Commit, root: Root) -> Version:
        version = Version(
            dataset=dataset,
            number=move.number,
            commit=move.new,
            root=commit.root.hex(),
            content_digest=root.content.hex(),
            parents=[parent.hex() for parent in commit.parents],
            file_count=root.files,
            link_count=root.links,
            size_bytes=root.size_bytes,
            added=move.added or 0,
            removed=move.removed or 0,
            changed=move.changed or 0,
            labels_changed=move.labels_changed,
            message=commit.message,
            author=None if move.loaded else self.users.get(commit.author),
            author_name=commit.author if move.loaded else "",
            provenance=dict(commit.provenance),
            layers=[layer_json(layer) for layer in root.layers],
        )
        version.pk = parse_id(move.version) or version.pk
        version.created_at = datetime.fromisoformat(move.at)
        return version

    def _count_missing(self, versions: dict[str, Version], logs: dict[str, Log]) -> None:
        """Count the changes of versions whose log entries, of an older installation, do not."""
        moves = [move for log in logs.values() for move in log.moves]
        uncounted = {m.new for m in moves if m.kind == "move" and m.seq and m.added is None}
        for commit in uncounted & versions.keys():
            version = versions[commit]
            parent = versions.get(version.parents[0]) if version.parents else None
            if parent is None:
                version.added = version.file_count + (version.link_count or 0)
                continue
            old, new = self.store.root(parent.root), self.store.root(version.root)
            diff = diff_roots(old, new, self.store.store)
            version.added, version.removed = len(diff.added_paths), len(diff.removed_paths)
            version.changed = len(diff.changed_paths)

    def _add_states(self, dataset: Dataset, versions: dict[str, Version]) -> None:
        for _, document in read_documents(self.project, f"version-states/{dataset.pk}/"):
            version = versions.get(document["commit"])
            if version is not None:
                version.state = document["state"]
                version.expired_at = _moment(document["expired_at"])

    def _add_layouts(self, dataset: Dataset, versions: dict[str, Version]) -> None:
        for _, document in read_documents(self.project, f"layouts/{dataset.pk}/"):
            version = versions.get(document["commit"])
            # A worker may have died before the catalogue had its layout, and the layout may be
            # collected since.
            if version is not None and self._has_root(document["layout"]):
                version.layout, version.is_repacked = document["layout"], document["repacked"]

    def _has_root(self, digest: str) -> bool:
        try:
            self.store.root(digest)
        except ObjectNotFoundError:
            return False
        return True

    def _add_tags(self, dataset: Dataset, versions: dict[str, Version]) -> None:
        for key, document in read_documents(self.project, f"tags/{dataset.pk}/"):
            if document.get("deleted"):
                continue
            version = versions.get(document["commit"])
            if version is None:
                self.rebuilt.problems.append(f"{key} names a commit that no branch ever had")
                continue
            tag = Tag(pk=UUID(document["id"]), dataset=dataset, name=document["name"])
            tag.version, tag.created_at = version, datetime.fromisoformat(document["created_at"])
            self.rebuilt.tags.append(tag)

    def _add_holds(self, dataset: Dataset, versions: dict[str, Version]) -> None:
        for _, document in read_documents(self.project, f"holds/{dataset.pk}/"):
            hold = LegalHold(pk=UUID(document["id"]), dataset=dataset, reason=document["reason"])
            hold.version = versions.get(document["commit"])
            hold.placed_by = self.users.get(document["placed_by"])
            hold.released_by = self.users.get(document["released_by"])
            hold.released_at = _moment(document["released_at"])
            hold.created_at = datetime.fromisoformat(document["created_at"])
            self.rebuilt.holds.append(hold)

    def _add_saved_views(self, dataset: Dataset) -> None:
        for _, document in read_documents(self.project, f"views/{dataset.pk}/"):
            if document["deleted"]:
                continue
            view = SavedView(pk=UUID(document["id"]), dataset=dataset, name=document["name"])
            view.where, view.prefix = document["where"], document["prefix"]
            view.splits = document["splits"]
            view.created_by = self.users.get(document["created_by"])
            view.created_at = datetime.fromisoformat(document["created_at"])
            self.rebuilt.saved_views.append(view)

    def _add_packs(self) -> None:
        prefix = storage.project_prefix(self.project)
        # A corrupt pack that was pushed again lies in both places: it is good.
        known: set[bytes] = set()
        for kind, state in (("packs", "verified"), ("quarantine", "quarantined")):
            listing = storage.objects().list_prefix(f"{prefix}{kind}/")
            packs = verified_packs(listing) if kind == "packs" else _tars(listing)
            found = [
                Pack(digest=item.digest.hex(), size_bytes=item.size_bytes)
                for item in stored_objects(kind, packs)
                if item.digest not in known
            ]
            for pack in found:
                pack.project, pack.state = self.project, state
                known.add(bytes.fromhex(pack.digest))
            self.rebuilt.packs += found


def verified_packs(listing: Iterable[ObjectInfo]) -> Iterator[ObjectInfo]:
    """Yield the packs of a listing in key order that were verified: an index lies beside each.

    A pack without one is an upload that was not verified, or never will be.
    """
    indexed = ""
    for item in listing:
        if item.key.endswith(_INDEX):
            indexed = item.key.removesuffix(_INDEX)
        elif item.key.endswith(_PACK) and item.key.removesuffix(_PACK) == indexed:
            yield item


def _tars(listing: Iterable[ObjectInfo]) -> Iterator[ObjectInfo]:
    return (item for item in listing if item.key.endswith(_PACK))


def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
