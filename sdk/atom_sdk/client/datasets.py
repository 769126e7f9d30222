"""Datasets from Python: list, browse, push, pull, open."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from atom_sdk.client.errors import ApiError
from atom_sdk.client.progress import Progress, Silent
from atom_sdk.client.refs import parse_ref
from atom_sdk.client.transport.http import Http

if TYPE_CHECKING:
    from atom_sdk.client.pull.pull import PullOptions, PullResult
    from atom_sdk.client.push.importing import Import, ImportOptions, ImportResult
    from atom_sdk.client.push.push import PushOptions, PushResult
    from atom_sdk.client.replicas import Replicas
    from atom_sdk.client.warm_plans import WarmPlans, WarmSchedules
    from atom_sdk.client.writing import DatasetWriter, WriteJob, WriterOptions
    from atom_sdk.export import ExportResult
    from atom_sdk.mount import MountOptions, MountRecord
    from atom_sdk.readers import LocalDataset


class Datasets:
    """Datasets of one project. References are written `digits@v3`."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._project = project

    @property
    def project(self) -> str:
        """Return the project's slug."""
        return self._project

    def base(self, reference: str) -> str:
        """Return the address of the dataset that a reference names."""
        ref = parse_ref(reference)
        return f"projects/{ref.project or self._project}/datasets/{ref.dataset}/"

    def version_base(self, reference: str) -> str:
        """Return the address of the version that a reference names."""
        return f"{self.base(reference)}versions/{parse_ref(reference).ref}/"

    def list(self) -> Iterator[dict[str, Any]]:
        """Yield the datasets."""
        return self._http.pages(f"projects/{self._project}/datasets/")

    def get(self, name: str) -> dict[str, Any]:
        """Return one dataset. Raises ApiError with status 404."""
        found: dict[str, Any] = self._http.get(self.base(name))
        return found

    def get_or_create(self, name: str, description: str = "") -> dict[str, Any]:
        """Return the dataset, made if it did not exist; two callers at once both get it."""
        try:
            return self.get(name)
        except ApiError as exc:
            if exc.status != 404:
                raise
        ref = parse_ref(name)
        body = {"name": ref.dataset, "description": description}
        try:
            self._http.post(f"projects/{ref.project or self._project}/datasets/", body)
        except ApiError as exc:
            if exc.status != 409:
                raise
        return self.get(name)

    def version(self, reference: str) -> dict[str, Any]:
        """Return one version."""
        found: dict[str, Any] = self._http.get(self.version_base(reference))
        return found

    def log(self, reference: str) -> Iterator[dict[str, Any]]:
        """Yield the versions of a branch, newest first."""
        branch = parse_ref(reference).ref
        return self._http.pages(f"{self.base(reference)}versions/", branch=branch)

    def activity(
        self, dataset: str, kinds: Sequence[str] = (), actor: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield who did what to a dataset, newest first: {at, kind, verb, actor, data, version}."""
        wanted = {"kind": ",".join(kinds) or None, "actor": actor}
        return self._http.pages(f"{self.base(dataset)}activity/", **wanted)

    def entries(self, reference: str, **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield entries.

        Filters: prefix, label, split, labelled, type, min_size, max_size, where, view.
        """
        return self._http.pages(f"{self.version_base(reference)}entries/", **filters)

    def folder(self, reference: str, prefix: str = "") -> dict[str, Any]:
        """Return the sub-folders and files directly under `prefix`."""
        found: dict[str, Any] = self._http.get(
            f"{self.version_base(reference)}entries/", prefix=prefix, delimiter="/", limit=200
        )
        return found

    def stats(self, reference: str) -> dict[str, Any]:
        """Return counts per label, split and media type."""
        found: dict[str, Any] = self._http.get(f"{self.version_base(reference)}stats/")
        return found

    def diff(self, old: str, new: str) -> dict[str, Any]:
        """Return the summary and the first changes between two versions of one dataset."""
        found: dict[str, Any] = self._http.get(
            f"{self.base(old)}diff/", **{"from": parse_ref(old).ref, "to": parse_ref(new).ref}
        )
        return found

    def push(
        self,
        folder: Path | str,
        reference: str,
        options: PushOptions | None = None,
        progress: Progress | None = None,
    ) -> PushResult:
        """Make the folder's present state the next version; only new content is sent."""
        from atom_sdk.client.push.push import Push, PushOptions

        push = Push(self, self._http, progress or Silent(), options or PushOptions())
        return push.run(Path(folder), reference)

    def writer(
        self,
        name: str,
        branch: str = "main",
        message: str = "",
        *,
        resume: str | None = None,
        options: WriterOptions | None = None,
    ) -> DatasetWriter:
        """Open a writer: its files go to a staging branch now, and to `branch` as one version.

        The dataset is made if there is none. `resume` is the id of a writer that was not committed:
        everything it persisted is there. Raises ApiError, WriterClosedError.
        """
        from atom_sdk.client.writing.opening import open_writer, resume_writer

        if resume is not None:
            return resume_writer(self, self._http, name, resume, options)
        return open_writer(self, self._http, name, branch, message, options)

    def write_job(
        self,
        name: str,
        job: str,
        branch: str = "main",
        message: str = "",
        *,
        options: WriterOptions | None = None,
    ) -> WriteJob:
        """Open the write job of that name, or find it: many tasks that become one version.

        The dataset is made if there is none. Raises ApiError.
        """
        from atom_sdk.client.writing.opening import open_write_job

        return open_write_job(self, self._http, name, (job, branch, message), options)

    def writers(self, name: str, *, only_open: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the writers of a dataset, newest first."""
        return self._http.pages(f"{self.base(name)}writers/", open=str(only_open).lower())

    def write_jobs(self, name: str, *, only_open: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the write jobs of a dataset, newest first."""
        return self._http.pages(f"{self.base(name)}write-jobs/", open=str(only_open).lower())

    def end_writer(
        self, name: str, writer_id: str, body: dict[str, Any], *, is_job: bool = False
    ) -> dict[str, Any]:
        """Commit a writer or a job from outside; returns the finished commit request.

        `body` is {on_conflict, resolutions, message}. Raises MergeConflictError,
        CommitFailedError, ApiError.
        """
        from atom_sdk.client.commits import wait_for_operation

        request = self._http.post(f"{self._writer_base(name, writer_id, is_job)}commit/", body)
        return wait_for_operation(self._http, self.base(name), request)

    def abandon_writer(self, name: str, writer_id: str, *, is_job: bool = False) -> dict[str, Any]:
        """Abandon a writer, or abort a job, from outside. Raises ApiError."""
        verb = "abort" if is_job else "abandon"
        address = f"{self._writer_base(name, writer_id, is_job)}{verb}/"
        found: dict[str, Any] = self._http.post(address)
        return found

    def _writer_base(self, name: str, writer_id: str, is_job: bool) -> str:
        kind = "write-jobs" if is_job else "writers"
        return f"{self.base(name)}{kind}/{quote(writer_id, safe='')}/"

    def import_(
        self,
        source: Path | str,
        reference: str,
        options: ImportOptions | None = None,
        progress: Progress | None = None,
    ) -> ImportResult:
        """Add what an archive or an annotation format holds as the next version.

        Raises ImportFailedError and what `push` raises.
        """
        from atom_sdk.client.push.importing import Import, ImportOptions

        wanted = Import(Path(source), options or ImportOptions(), progress or Silent())
        return self.import_from(wanted, reference)

    def import_from(self, wanted: Import, reference: str) -> ImportResult:
        """Run an import whose source is no path of this machine.

        Raises ImportFailedError and what `push` raises.
        """
        return wanted.run(self, self._http, reference)

    def preview_split(self, reference: str, split: dict[str, Any]) -> builtins.list[dict[str, Any]]:
        """Return how many files of each label every split would get; nothing is changed."""
        params = {name: str(value) for name, value in split.items()}
        answer = self._http.get(f"{self.version_base(reference)}split-preview/", **params)
        return builtins.list(answer["splits"])

    def split(
        self,
        reference: str,
        split: dict[str, Any],
        message: str = "",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Make a version of the branch's head with another split and the same files.

        Ctrl-C cancels it. Returns the version. Raises CommitFailedError, HeadMovedError.
        """
        from atom_sdk.client.commits import follow_split

        body = {"branch": parse_ref(reference).ref, "message": message, **split}
        request = self._http.post(f"{self.base(reference)}splits/", body)
        done = follow_split(self._http, self.base(reference), request, progress)
        version: dict[str, Any] = done["version"]
        return version

    def label_by_folder(
        self, reference: str, message: str = "", progress: Progress | None = None
    ) -> dict[str, Any]:
        """Make a version of the branch's head whose files have their folder's name as label.

        Labels that people gave stay. Returns the version. Raises CommitFailedError, HeadMovedError.
        """
        from atom_sdk.client.commits import follow_split

        body = {"branch": parse_ref(reference).ref, "message": message}
        request = self._http.post(f"{self.base(reference)}folder-labels/", body)
        version: dict[str, Any] = follow_split(self._http, self.base(reference), request, progress)[
            "version"
        ]
        return version

    def pull(
        self,
        reference: str,
        folder: Path | str,
        options: PullOptions | None = None,
        progress: Progress | None = None,
    ) -> PullResult:
        """Write the version's files, or those that the options select, below `folder`.

        Files that are there already with the right content are left alone. Nothing is removed
        unless the options say so.
        """
        from atom_sdk.client.pull.pull import PullOptions, pull

        chosen = options or PullOptions()
        plain, selector = self._resolve(reference, chosen.selector)
        chosen = replace(chosen, selector=selector)
        return pull(self, self._http, plain, Path(folder), chosen, progress or Silent())

    def open(
        self,
        reference: str,
        progress: Progress | None = None,
        *,
        stream: bool = False,
        **selector: Any,
    ) -> LocalDataset:
        """Bring the version's packs to this machine's cache and return a reader over them.

        `selector`: split="train" or several names, labelled=True, where="label = 'cat'",
        prefix="a/", view="a-saved-view" (or `digits@v3?view=a-saved-view`). Only the packs that
        the selection needs are fetched.

        `stream=True` returns at once, and fetches what is not here while it is read: training
        starts before everything is there, but needs the network until it is.
        """
        from atom_sdk.client.pull.pull import open_dataset, stream_dataset

        plain, chosen = self._resolve(reference, selector)
        if stream:
            return stream_dataset(self, self._http, plain, chosen)
        return open_dataset(self, self._http, plain, chosen, progress or Silent())

    def mount(
        self,
        reference: str,
        folder: Path | str,
        options: MountOptions | None = None,
        progress: Progress | None = None,
    ) -> MountRecord:
        """Bring the version's packs to this machine's cache and show it as a read-only folder.

        `atom_sdk.mount.unmount(folder, cache_path())` or `atom unmount` takes the folder away.
        """
        from atom_sdk.client.pull.mounts import mount_version

        return mount_version(self, reference, Path(folder), options, progress or Silent())

    def export(
        self,
        reference: str,
        folder: Path | str,
        file_format: str = "folder",
        *,
        progress: Progress | None = None,
        shard_bytes: int | None = None,
        unsafe_links: bool = False,
        **selector: Any,
    ) -> ExportResult:
        """Write a version as a folder, WebDataset, TFRecord or Parquet; run again, it goes on.

        `unsafe_links`: a folder gets links that lead out of the version, too.
        """
        from atom_sdk.export import export_dataset
        from atom_sdk.export.shards import SHARD_BYTES

        dataset = self.open(reference, stream=True, **selector)
        size_bytes = SHARD_BYTES if shard_bytes is None else shard_bytes
        return export_dataset(
            dataset,
            Path(folder),
            file_format,
            progress or Silent(),
            size_bytes,
            unsafe_links=unsafe_links,
        )

    def warm(self, reference: str) -> Any:
        """Ask the cluster to bring the version's bytes to its nodes."""
        return self._http.post(f"{self.version_base(reference)}warm/")

    def warm_in(self, reference: str, cluster: str, **options: Any) -> dict[str, Any]:
        """Start a plan by which agents bring a version to nodes; see `WarmPlans.start`."""
        return self.warm_plans.start(self.version_base(reference), cluster, **options)

    @property
    def warm_plans(self) -> WarmPlans:
        """Return the project's warm-up plans."""
        from atom_sdk.client.warm_plans import WarmPlans

        return WarmPlans(self._http, self._project)

    def warm_at(self, reference: str, cluster: str, cron: str, **options: Any) -> dict[str, Any]:
        """Warm the newest version of a ref at the times of `cron`; see `WarmSchedules.create`."""
        ref = parse_ref(reference).ref
        base = self.base(reference)
        return self.warm_schedules.create(base, ref, cluster, cron, **options)

    @property
    def warm_schedules(self) -> WarmSchedules:
        """Return the project's schedules of warm-up plans."""
        from atom_sdk.client.warm_plans import WarmSchedules

        return WarmSchedules(self._http, self._project)

    @property
    def replicas(self) -> Replicas:
        """Return the project's replicas in second stores."""
        from atom_sdk.client.replicas import Replicas

        return Replicas(self._http, self._project, self.version_base)

    def coverage(self, reference: str) -> builtins.list[dict[str, Any]]:
        """Return how much of the version is on which node."""
        return builtins.list(self._http.get(f"{self.version_base(reference)}cache/"))

    def _resolve(self, reference: str, selector: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the reference and the selector with a saved view written out."""
        from atom_sdk.client.views import Views

        return Views(self._http, self).resolve(reference, selector)
