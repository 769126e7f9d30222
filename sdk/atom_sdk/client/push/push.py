"""`push`: walk, hash, pack, upload, commit.

Packing is deterministic, so a push that was cut off makes the same packs again and the server
says which of their parts it has. Two pushes at once to one branch: one wins, the other puts its own
changes on top of the new head; packs that were verified are not sent twice.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from atom_sdk.amounts import counted
from atom_sdk.client.commits import HeadMovedError, wait_for_commit
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError, CommitFailedError
from atom_sdk.client.progress import Progress
from atom_sdk.client.push.attribute_changes import renewed_paths, with_attributes, with_metadata
from atom_sdk.client.push.attributes import AttributesSource, read_attributes
from atom_sdk.client.push.changes_file import send_changes
from atom_sdk.client.push.contents import Contents, FolderContents, WritePack
from atom_sdk.client.push.duplicates import DuplicateFiles
from atom_sdk.client.push.import_metadata import ImportMetadata
from atom_sdk.client.push.links import changed_links, note_links
from atom_sdk.client.push.pack_groups import group_by_split, paths_after
from atom_sdk.client.push.packed_rows import (
    PackedRows,
    add_unpacked,
    in_path_order,
    link_row,
    packed_rows,
    rows_of,
)
from atom_sdk.client.push.parents import load_parent
from atom_sdk.client.push.rebase import own_changes
from atom_sdk.client.push.scan import DigestCache, Parent, Scan, compare
from atom_sdk.client.push.scratch_packs import packed_file, scratch_folder
from atom_sdk.client.refs import parse_ref
from atom_sdk.client.skipped_files import write_skipped_paths
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.upload import UploadTarget, upload_file, wait_verified
from atom_sdk.disk import naming_full_disk
from atom_sdk.manifests.links import link_digest
from atom_sdk.packs.paths import case_collisions
from atom_sdk.packs.plan import PackLimits, PackPlan, SourceFile, plan_packs

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets

_REBASES = 5
_UPLOADS_AT_ONCE = 2
# Written while others are sent, so that the store never waits for a pack.
_PACKED_AHEAD = 1
# Packs that wait to be sent, or were sent while others still are.
_UPLOADS_AHEAD = 32
# Sent and not yet known to be verified: a lie is noticed before many more are sent.
_UNVERIFIED_AHEAD = 8
# The id of the upload, the bytes of the pack, and the rows of its files.
_SentPack: TypeAlias = tuple[str, int, list[pa.RecordBatch]]
_CANNOT_SPLIT = {"split_empty", "split_impossible", "split_unlabelled", "split_redraw"}


@dataclass(frozen=True)
class PushOptions:
    """How a push becomes a version.

    Links are kept as links; with `follow_links` their targets are taken in their place.
    `attributes` are JSON objects by path, or a file of them (JSON lines or CSV): they replace those
    of the files that they name; other files keep theirs as long as their bytes stay.
    `labels_from="folder"` takes each file's label from its class folder, except below `unlabelled`;
    `split` is {"test": "20%", "val": 500, "seed": 7, "stratify": True, "group_by": "folder"}, with
    "redraw": True to draw files that have a split again. Options that are None are taken from the
    branch's last push.
    """

    message: str = ""
    labels_from: str | None = None
    unlabelled: tuple[str, ...] = ()
    split: dict[str, Any] | None = None
    limits: PackLimits = field(default_factory=PackLimits)
    attributes: AttributesSource | None = None
    metadata: ImportMetadata = field(default_factory=ImportMetadata)
    follow_links: bool = False


@dataclass(frozen=True)
class PushResult:
    """The result of a push; `unchanged` means that the branch had this content already.

    `skipped` are paths that a dataset cannot hold; `skipped_file` names all of them with reasons.
    """

    dataset: str
    version: dict[str, Any]
    files_total: int
    files_sent: int
    bytes_sent: int
    packs_sent: int
    removed: int
    unchanged: bool
    skipped: tuple[str, ...] = ()
    links_total: int = 0
    links_sent: int = 0
    skipped_file: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return asdict(self)


class Push:
    """One push; `run` may be called once."""

    def __init__(
        self, datasets: Datasets, http: Http, progress: Progress, options: PushOptions
    ) -> None:
        self._datasets = datasets
        self._http = http
        self._progress = progress
        self._options = options
        self._bytes_sent = 0
        self._packs_sent = 0
        self._may_send = Semaphore(_UPLOADS_AT_ONCE)
        # The version that the push began with; set once.
        self._base: Parent | None = None
        self._attributes: dict[str, str | None] = {}
        self._skipped_file: str | None = None

    def run(self, folder: Path, reference: str) -> PushResult:
        """Push `folder` to `dataset[@branch]`.

        Raises EmptyDatasetError, AttributesError, PathError, UploadRejectedError,
        CommitFailedError, PushConflictError, ApiError.
        """
        contents = FolderContents(folder, follow_links=self._options.follow_links)
        return self.send(contents, reference)

    def send(self, contents: Contents, reference: str) -> PushResult:
        """Push what a folder or an import holds. Raises what `run` raises."""
        if self._options.attributes is not None:
            paths = {*contents.links, *(file.path for file in contents.files)}
            self._attributes = read_attributes(self._options.attributes, paths)
        self._warn(contents)
        self._datasets.get_or_create(reference)
        with tempfile.TemporaryDirectory(dir=scratch_folder(), prefix="scan-") as scratch:
            return self._push(contents, reference, Path(scratch))

    def _push(self, contents: Contents, reference: str, scratch: Path) -> PushResult:
        for attempt in range(_REBASES):
            # Later attempts compare with the scan of the first one.
            folder = scratch / str(attempt)
            folder.mkdir()
            try:
                return self._push_once(contents, reference, folder)
            except HeadMovedError:
                if attempt == _REBASES - 1:
                    raise CommitFailedError("The branch kept moving under this push.") from None
                self._progress.note("The branch moved; going on from its new head.")
            except CommitFailedError as exc:
                exc.hint = f"{exc.hint} {self._what_is_left(reference)}"
                raise
        raise AssertionError("unreachable")

    def _what_is_left(self, reference: str) -> str:
        if self._head(reference):
            return "No version was made."
        name = parse_ref(reference).dataset
        return f"The dataset {name} exists now and has no version yet: push again."

    def _push_once(self, contents: Contents, reference: str, scratch: Path) -> PushResult:
        files = contents.files
        head = self._head(reference)
        target = UploadTarget(self._http, self._datasets.base(reference), self._progress)
        cache = DigestCache(cache_path(), contents)
        with naming_full_disk(scratch):
            parent = load_parent(self._http, target.base, head, scratch) if head else Parent()
            scan = self._scan(contents, parent, cache, scratch)
        renewed = renewed_paths(self._attributes, self._options.metadata, parent, scan)
        links = changed_links(scan.links, parent, self._attributes)
        scan = replace(scan, links=links)
        is_same = not (scan.new or scan.reused or scan.removed or renewed or links)
        if head and is_same and not self._asks_for_layers():
            return self._result(reference, head, contents, scan, unchanged=True)
        options = self._effective_options(head)
        same = DuplicateFiles(contents.same, scan.new)
        groups = self._groups(same.packed(scan.new), contents, parent, scan, options)
        with packed_rows() as packed:
            unverified = self._send_packs(target, contents, groups, same, packed)
            changes = self._changes(scan, parent, packed, renewed)
            # The server verifies the last packs while their rows are put in order and sent.
            changes_upload = send_changes(target, changes, unverified)
            request = self._commit(target, reference, head, changes_upload, options)
            cache.save(
                files,
                ((file.path, digest) for file, digest in scan.known),
                packed.digests(),
                time.time_ns(),
            )
        version = request["version"]
        return self._result(
            reference, version, contents, scan, unchanged=request.get("unchanged", False)
        )

    def _groups(
        self,
        new: Collection[SourceFile],
        contents: Contents,
        parent: Parent,
        scan: Scan,
        options: dict[str, Any],
    ) -> list[Collection[SourceFile]]:
        """Return the files to pack, `new`, those of one split together."""
        new_splits = self._options.metadata.splits
        if not (parent.splits or new_splits or options["split"]):
            return [new]
        splits = {**parent.splits, **new_splits} if new_splits else parent.splits
        # Links are in no split.
        before = (
            path
            for path in parent.digests
            if path not in parent.links and path not in contents.links
        )
        after = (file.path for file in contents.files)
        paths = paths_after(before, after, scan.removed)
        said = self._attributes

        def attributes(path: str) -> str | None:
            return said[path] if path in said else parent.attributes.get(path)

        return group_by_split(new, paths, options, splits, attributes)

    def _scan(self, contents: Contents, parent: Parent, cache: DigestCache, scratch: Path) -> Scan:
        """Compare the files with the head; later, only what the push itself changed."""
        files, links = contents.files, contents.links
        keeps_others = self._options.metadata.keeps_others
        if self._base is None:
            self._base = parent
            scan = compare(files, parent, cache, self._progress, scratch, links)
            scan = replace(scan, links=links)
            return replace(scan, removed=[]) if keeps_others else scan
        mine = cache.digests(files)
        mine |= {path: link_digest(target) for path, target in links.items()}
        base: Mapping[str, bytes] = self._base.digests
        if keeps_others:
            base = {path: digest for path, digest in base.items() if path in mine}
        own = own_changes(mine, base, parent.digests)
        lost = {path for path in parent.damaged if mine.get(path) == parent.digests[path]}
        touched = [file for file in files if file.path in own.put or file.path in lost]
        scan = compare(touched, parent, cache, self._progress, scratch)
        put = {path: target for path, target in links.items() if path in own.put}
        return replace(scan, removed=list(own.removed), links=put)

    def _asks_for_layers(self) -> bool:
        """Return whether labels or a split are asked for: the server knows if that is new."""
        given = self._options
        return bool(given.labels_from or given.unlabelled or given.split)

    def _head(self, reference: str) -> dict[str, Any] | None:
        branch = parse_ref(reference).ref
        params = {"branch": branch, "limit": 1}
        rows = self._http.get(f"{self._datasets.base(reference)}versions/", **params)["results"]
        return rows[0] if rows else None

    def _send_packs(
        self,
        target: UploadTarget,
        contents: Contents,
        groups: list[Collection[SourceFile]],
        same: DuplicateFiles,
        packed: PackedRows,
    ) -> deque[str]:
        """Write and send the packs; their rows of the changes go to `packed`.

        Returns the uploads of which it is not known yet whether the server has verified them.
        """
        # Planned twice: the plans of millions of files are not kept.
        size_bytes = sum(plan.pack_bytes for plan in self._plans(groups))
        self._progress.start("upload", size_bytes, "bytes")
        with (
            contents.packing(size_bytes) as write_pack,
            ThreadPoolExecutor(_UPLOADS_AT_ONCE + _PACKED_AHEAD, "atom-pack") as pool,
        ):
            waiting: deque[Future[_SentPack]] = deque()
            unverified: deque[str] = deque()
            try:
                for plan in self._plans(groups):
                    waiting.append(pool.submit(self._send_pack, target, write_pack, plan, same))
                    if len(waiting) > _UPLOADS_AHEAD:
                        unverified.append(self._take(packed, waiting.popleft()))
                    if len(unverified) > _UNVERIFIED_AHEAD:
                        wait_verified(target, unverified.popleft())
                while waiting:
                    unverified.append(self._take(packed, waiting.popleft()))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return unverified

    def _plans(self, groups: list[Collection[SourceFile]]) -> Iterator[PackPlan]:
        return (plan for files in groups for plan in plan_packs(files, self._options.limits))

    def _take(self, packed: PackedRows, sent: Future[_SentPack]) -> str:
        upload_id, size_bytes, batches = sent.result()
        self._packs_sent += 1
        self._bytes_sent += size_bytes
        for batch in batches:
            packed.add(batch)
        return upload_id

    def _send_pack(
        self, target: UploadTarget, write_pack: WritePack, plan: PackPlan, same: DuplicateFiles
    ) -> _SentPack:
        with packed_file(partial(write_pack, plan.files)) as (path, summary), self._may_send:
            upload_id = upload_file(target, path, "pack", summary.digest.hex())
        further = same.rows(summary)
        batches = [rows_of(summary)] if further is None else [rows_of(summary), further]
        return upload_id, summary.size_bytes, batches

    def _changes(
        self, scan: Scan, parent: Parent, packed: PackedRows, renewed: list[str]
    ) -> Iterator[pa.Table]:
        """Yield the rows of the changes, in path order."""
        add_unpacked(packed, scan, parent, renewed)
        packed.add_all(link_row(*link) for link in scan.links.items())
        for table in in_path_order(packed.runs()):
            described = with_attributes(table, self._attributes, parent)
            yield with_metadata(described, self._options.metadata)

    def _commit(
        self,
        target: UploadTarget,
        reference: str,
        head: dict[str, Any] | None,
        changes_upload: str,
        options: dict[str, Any],
    ) -> dict[str, Any]:
        body = {
            "branch": parse_ref(reference).ref,
            "expected_head": head["commit"] if head else None,
            "message": self._options.message,
            "changes_upload": changes_upload,
            **options,
            "provenance": {"kind": "push", **options, **self._options.metadata.provenance},
        }
        try:
            return self._ask(target, body)
        except CommitFailedError as exc:
            if exc.reason not in _CANNOT_SPLIT or self._options.split:
                raise
        # This push asks for no split: files that are gone leave it, the others keep theirs.
        self._progress.note("The earlier split cannot be filled up; every file keeps its own.")
        return self._ask(target, {**body, "split": None})

    def _ask(self, target: UploadTarget, body: dict[str, Any]) -> dict[str, Any]:
        try:
            request = self._http.post(f"{target.base}commits/", body)
        except ApiError as exc:
            if exc.code == "head_moved":
                raise HeadMovedError from exc
            raise
        return self._wait(target, request)

    def _effective_options(self, head: dict[str, Any] | None) -> dict[str, Any]:
        last = (head or {}).get("provenance") or {}
        given = self._options
        # Drawing again was for that push alone.
        split = {k: v for k, v in (last.get("split") or {}).items() if k != "redraw"}
        return {
            "labels_from": given.labels_from or last.get("labels_from"),
            "unlabelled_prefixes": list(given.unlabelled) or last.get("unlabelled_prefixes") or [],
            "split": given.split or split or None,
        }

    def _wait(self, target: UploadTarget, request: dict[str, Any]) -> dict[str, Any]:
        self._progress.start("commit", 0, "files")
        return wait_for_commit(self._http, target.base, request)

    def _result(
        self,
        reference: str,
        version: dict[str, Any],
        contents: Contents,
        scan: Scan,
        *,
        unchanged: bool,
    ) -> PushResult:
        return PushResult(
            dataset=parse_ref(reference).dataset,
            version=version,
            files_total=len(contents.files),
            files_sent=len(scan.new),
            bytes_sent=self._bytes_sent,
            packs_sent=self._packs_sent,
            removed=len(scan.removed),
            unchanged=unchanged,
            skipped=tuple(left.path for left in contents.skipped),
            links_total=len(contents.links),
            links_sent=0 if unchanged else len(scan.links),
            skipped_file=self._skipped_file,
        )

    def _warn(self, contents: Contents) -> None:
        if contents.skipped:
            path = write_skipped_paths("push", contents.key, contents.skipped)
            self._skipped_file = str(path)
            some = counted(len(contents.skipped), "path")
            first = contents.skipped[0]
            self._progress.note(
                f"Left out: {some}, such as {first.path!r}: {first.reason}. All are in {path}."
            )
        labels_folders = self._options.labels_from == "folder"
        note_links(contents.links, self._progress, labels_folders=labels_folders)
        for group in case_collisions(partial(_all_paths, contents))[:5]:
            names = ", ".join(map(repr, group))
            self._progress.note(f"These differ only by case or Unicode form: {names}.")


def _all_paths(contents: Contents) -> Iterator[str]:
    yield from (file.path for file in contents.files)
    yield from contents.links
