"""Loading a dataset from an archive: everything is checked, then all versions appear at once.

A client sends the packs as for a push, then the manifest objects as one more pack. Nothing of it
is seen before the one transaction in which versions, branches and tags come to be; a load that died
before it is simply done again, and one that is done already changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID, uuid5

import structlog
from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import AuditEvent, User
from atom.core import clock, live
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.datasets.archives.archiving import BundledObjects, moves_of
from atom.datasets.archives.errors import ArchiveHistoryDiffers, ArchiveRefused
from atom.datasets.catalog import catalogue_log, ref_log
from atom.datasets.catalog.engines.ancestry import parents_first
from atom.datasets.catalog.ref_log import RefMove
from atom.datasets.catalog.stores import version_store
from atom.datasets.commits.actions.branches import count_changes, settle_branch
from atom.datasets.commits.actions.compaction import compact_soon
from atom.datasets.models import Branch, CommitRequest, Dataset, Pack, Tag, Version
from atom.datasets.packs.pack_checks import check_puts
from atom.datasets.versions.engines.change_counts import VersionChanges
from atom.datasets.versions.engines.versions import layer_json
from atom_sdk.archive.folder import history_key
from atom_sdk.archive.follow import Followed
from atom_sdk.archive.history import MAIN, ArchivedMove, History, continues, decode_history
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.manifests.objects import get_verified
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_BUILD_TASK = "atom.datasets.tasks.build_commit"
_EXPORTED = "dataset.exported"
_ONE_EXPORT = timedelta(hours=1)
_KINDS: dict[str, Literal["begin", "move", "end"]] = {
    "begin": "begin",
    "move": "move",
    "end": "end",
}


def note_export(dataset: Dataset, user: User) -> None:
    """Record that somebody takes the whole history along; going on with a save is no other one."""
    since = clock.now() - _ONE_EXPORT
    events = AuditEvent.objects.filter(subject_id=dataset.pk, verb=_EXPORTED, at__gte=since)
    if not events.filter(actor=user).exists():
        audit.record(user, _EXPORTED, dataset, dataset.project, dataset, name=dataset.name)


def begin_load(dataset: Dataset, history: str) -> Dataset:
    """Note that a client is loading a history (digest in hex) into the dataset. Repeatable."""
    with transaction.atomic():
        Dataset.objects.filter(pk=dataset.pk).update(loading=history)
        _notify(dataset)
    dataset.loading = history
    return dataset


def request_load(dataset: Dataset, history: str, bundle: str, user: User) -> CommitRequest:
    """Ask a worker to load a history from a verified pack of manifest objects (digests in hex).

    Raises ArchiveRefused if the project has no such pack.
    """
    packs = Pack.objects.filter(project=dataset.project, digest=bundle)
    if not packs.exclude(state="quarantined").exists():
        raise ArchiveRefused(
            Sentence(
                "datasets.bundle_not_sent",
                "The pack {pack} of manifest objects was not sent.",
                pack=bundle,
            )
        )
    with transaction.atomic():
        request = CommitRequest.objects.create(
            dataset=dataset,
            branch=MAIN,
            operation="load",
            arguments={"history": history, "bundle": bundle},
            created_by=user,
        )
        named = {"dataset": dataset.name, "branch": MAIN, "operation": "load"}
        audit.record(user, "commit.requested", request, dataset.project, **named)
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def load_archive(request: CommitRequest) -> tuple[Version | None, bool]:
    """Return the head of `main`, and whether the dataset had all of it already.

    Raises ArchiveRefused, ArchiveHistoryDiffers, PackNotVerified, EntryNotInPack, PacksOnTheWay.
    """
    dataset = request.dataset
    objects = version_store(dataset.project).store
    try:
        bundle = BundledObjects(objects, request.arguments["bundle"])
        key = history_key(request.arguments["history"])
        digest = bytes.fromhex(request.arguments["history"])
        history = decode_history(get_verified(bundle, key, digest), key)
        _progress(request, 0.1)
        found = Followed(bundle, lambda entries: check_puts(dataset.project, entries))
        found.follow(history)
    except (SdkError, ValueError) as error:
        raise ArchiveRefused(str(error)) from error
    if not history.commits:
        raise ArchiveRefused(
            Sentence("datasets.archive_has_no_version", "The archive has no version.")
        )
    _progress(request, 0.6)
    reach("load.checked")
    bundle.copy_to(objects, found.keys)
    _progress(request, 0.8)
    reach("load.objects_written")
    return _Load(request, history, found).carry_out()


@dataclass
class _Load:
    """One load into one dataset."""

    request: CommitRequest
    history: History
    archived: Followed

    def carry_out(self) -> tuple[Version | None, bool]:
        """Make what is missing, in one transaction; returns the head of `main` and "nothing"."""
        dataset = self.request.dataset
        for name in Branch.objects.filter(dataset=dataset).values_list("name", flat=True):
            settle_branch(dataset, name)
        with transaction.atomic():
            branches = self._lock()
            new = self._new_moves()
            made = self._add_versions(new)
            self._add_moves(new, branches)
            tags = self._add_tags()
            Dataset.objects.filter(pk=dataset.pk).update(
                loading="", updated_at=clock.now(), description=self._description()
            )
            if made or new or tags:
                self._note(made)
            _notify(dataset)
        head = Branch.objects.select_related("head").get(dataset=dataset, name=MAIN).head
        return head, not (made or new or tags)

    def _lock(self) -> dict[str, Branch]:
        Dataset.with_deleted.select_for_update(of=("self",)).get(pk=self.request.dataset_id)
        locked = Branch.objects.select_for_update(of=("self",)).order_by("pk")
        rows = locked.filter(dataset=self.request.dataset).select_related("head")
        for row in rows:
            row.dataset = self.request.dataset
        return {row.name: row for row in rows}

    def _new_moves(self) -> list[ArchivedMove]:
        """Return what the dataset lacks. Raises ArchiveHistoryDiffers."""
        there: dict[str, list[ArchivedMove]] = {}
        for move in moves_of(self.request.dataset):
            if move.kind != "begin" or move.new:
                there.setdefault(move.branch, []).append(move)
        new = []
        for name, moves in self.history.logs().items():
            known = there.get(name, [])
            if not continues(moves, known):
                raise ArchiveHistoryDiffers(
                    Sentence(
                        "datasets.branch_has_another_history",
                        "The branch {branch} of {dataset} has another history.",
                        branch=name,
                        dataset=self.request.dataset.name,
                    )
                )
            new += moves[len(known) :]
        return new

    def _add_versions(self, new: Sequence[ArchivedMove]) -> list[Version]:
        """Add the rows of commits that the dataset does not have, parents first."""
        dataset = self.request.dataset
        known = set(dataset.versions.values_list("commit", flat=True))
        moves = {move.new: move for move in reversed(new) if move.kind == "move"}
        # A number is given on `main`, wherever else the commit was.
        numbers = {move.new: move.number for move in new if move.number is not None}
        parents = {digest: commit.parents for digest, (commit, _) in self.archived.commits.items()}
        ordered = parents_first(
            {digest: [each.hex() for each in parents[digest]] for digest in moves}
        )
        return [
            self._version(moves[commit], numbers.get(commit))
            for commit in ordered
            if commit not in known
        ]

    def _version(self, move: ArchivedMove, number: int | None) -> Version:
        dataset, (commit, root) = self.request.dataset, self.archived.commits[move.new]
        is_kept = move.new in self.history.kept
        parents = [parent.hex() for parent in commit.parents]
        # Only where the files are here can the changes be counted.
        is_counted = is_kept and (not parents or parents[0] in self.history.kept)
        said = VersionChanges(move.added or 0, move.removed or 0, move.changed or 0)
        changes = count_changes(dataset, parents, root) if is_counted else said
        layout = self.history.layouts.get(move.new, "")
        version = Version(
            pk=version_id(dataset, move.new),
            dataset=dataset,
            number=number,
            commit=move.new,
            root=commit.root.hex(),
            layout=layout,
            is_repacked=bool(layout),
            content_digest=root.content.hex(),
            parents=parents,
            file_count=root.files,
            link_count=root.links,
            size_bytes=root.size_bytes,
            **asdict(changes),
            message=commit.message,
            author_name=commit.author,
            provenance=dict(commit.provenance),
            layers=[layer_json(layer) for layer in root.layers],
            state="kept" if is_kept else "collected",
            expired_at=None if is_kept else clock.now(),
        )
        version.save(force_insert=True)
        version.created_at = datetime.fromisoformat(move.at)
        version.save(update_fields=["created_at"])
        if layout:
            catalogue_log.write_layout(version)
        if is_kept:
            compact_soon(version, self.archived.layouts.get(move.new, root))
        else:
            catalogue_log.write_version_state(version, version.state, version.expired_at)
        return version

    def _add_moves(self, new: Sequence[ArchivedMove], branches: dict[str, Branch]) -> None:
        dataset = self.request.dataset
        versions = {row.commit: row for row in dataset.versions.all()}
        entries: list[tuple[Branch, RefMove]] = []
        for move in new:
            branch = branches.get(move.branch)
            if branch is None:
                branch = branches[move.branch] = self._begin(move)
            branch.head, branch.seq = versions.get(move.new), move.seq
            # A row of its own: a branch that is deleted below forgets its id.
            named = Branch(pk=branch.pk, dataset=dataset, name=branch.name)
            entries.append((named, self._entry(move, versions)))
            if move.kind == "end":
                branch.delete()
                del branches[move.branch]
            else:
                branch.save()
        # The oldest last: should this process die in between, nobody takes up half a history.
        for branch, entry in sorted(entries, key=lambda pair: -pair[1].seq):
            ref_log.write_move(branch, entry)
        reach("load.logged")

    def _begin(self, move: ArchivedMove) -> Branch:
        dataset = self.request.dataset
        if dataset.tags.filter(name=move.branch).exists():
            raise ArchiveHistoryDiffers(
                Sentence(
                    "datasets.tag_is_no_branch",
                    "{dataset} has a tag {tag}: no branch.",
                    dataset=dataset.name,
                    tag=move.branch,
                )
            )
        branch = Branch.objects.create(dataset=dataset, name=move.branch)
        branch.created_at = datetime.fromisoformat(move.at)
        branch.save(update_fields=["created_at"])
        return branch

    def _entry(self, move: ArchivedMove, versions: dict[str, Version]) -> RefMove:
        version = versions.get(move.new)
        return RefMove(
            seq=move.seq,
            old=move.old,
            new=move.new,
            number=move.number,
            author=move.author,
            at=move.at,
            version=str(version.pk) if version else "",
            added=version.added if version else None,
            removed=version.removed if version else None,
            changed=version.changed if version else None,
            labels_changed=version.labels_changed if version else None,
            kind=_KINDS[move.kind],
            loaded=True,
        )

    def _add_tags(self) -> int:
        dataset, made = self.request.dataset, 0
        there = dict(dataset.tags.values_list("name", "version__commit"))
        taken = set(dataset.branches.values_list("name", flat=True))
        for tag in self.history.tags:
            if there.get(tag.name, tag.commit) != tag.commit or tag.name in taken:
                raise ArchiveHistoryDiffers(
                    Sentence(
                        "datasets.name_used_otherwise",
                        "{dataset} has something else called {name}.",
                        dataset=dataset.name,
                        name=tag.name,
                    )
                )
            if tag.name in there:
                continue
            at = dataset.versions.get(commit=tag.commit)
            row = Tag.objects.create(dataset=dataset, name=tag.name, version=at)
            row.created_at = datetime.fromisoformat(tag.created_at)
            row.save(update_fields=["created_at"])
            catalogue_log.write_tag(row)
            made += 1
        return made

    def _description(self) -> str:
        return self.request.dataset.description or self.history.description

    def _note(self, made: Sequence[Version]) -> None:
        dataset = self.request.dataset
        dataset.refresh_from_db()
        catalogue_log.write_dataset(dataset)
        audit.record(
            self.request.created_by, "dataset.loaded", dataset, dataset.project, dataset,
            name=dataset.name, versions=len(made), history=self.request.arguments["history"],
        )  # fmt: skip
        log.info("dataset_loaded", dataset_id=str(dataset.pk), versions=len(made))


def version_id(dataset: Dataset, commit: str) -> UUID:
    """Return the id of a loaded version: the same in every try."""
    return uuid5(dataset.pk, commit)


def _progress(request: CommitRequest, progress: float) -> None:
    CommitRequest.objects.filter(pk=request.pk, state="building").update(progress=progress)


def _notify(dataset: Dataset) -> None:
    event = {"type": "dataset", "id": str(dataset.pk), "branch": MAIN}
    live.publish(f"project.{dataset.project_id}", event)
