"""Adding, changing, testing and removing the places that data is registered from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, live, outbox
from atom.datasets.catalog.actions.catalogue import create_dataset
from atom.datasets.commits.actions.branches import check_not_staging
from atom.datasets.credentials import encrypted
from atom.datasets.errors import RefNotFound
from atom.datasets.models import Dataset, Source, SourceScan
from atom.datasets.sentences import branch_unknown
from atom.datasets.source_spec import ANONYMOUS, Credentials, SourceSpec
from atom.datasets.sources.errors import SourceNameTaken
from atom.datasets.sources.pipelines.objects import Shard, SourceObject, SourceReader
from atom.datasets.sources.pipelines.opening import open_source
from atom.datasets.sources.pipelines.patience import INTERACTIVE
from atom.datasets.states import ACTIVE_SCANS
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_SHOWN = 5


@dataclass(frozen=True)
class NewSource:
    """A source to create. The dataset is created if the project has none of that name."""

    name: str
    url: str
    dataset: str
    branch: str = "main"
    endpoint: str = ""
    region: str = ""
    credentials: Credentials = ANONYMOUS
    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    labels_from: str = ""
    every_s: int | None = None

    @property
    def spec(self) -> SourceSpec:
        """Return what a reader needs."""
        return SourceSpec("", self.url, self.endpoint, self.region, self.credentials)


@dataclass(frozen=True)
class Probe:
    """The result of a test of the connection: a few keys, and whether there are more."""

    keys: list[str]
    has_more: bool


def probe(spec: SourceSpec) -> Probe:
    """Look whether a source can be listed and read.

    Raises Invalid, SourceAddressRefused, SourceFolderRefused or SourceError.
    """
    reader = open_source(spec, INTERACTIVE)
    for page in reader.pages(Shard("")):
        files = [found for found in page if not found.key.endswith("/")]
        if files:
            first = next((found for found in files if found.size_bytes), None)
            if first is not None:
                _read_a_byte(reader, first)
            return Probe([_shown(found.key) for found in files[:_SHOWN]], len(files) > _SHOWN)
    return Probe([], has_more=False)


def _shown(key: str) -> str:
    # A folder may have names that are no text; no answer could hold one.
    return key.encode(errors="surrogateescape").decode(errors="replace")


def _read_a_byte(reader: SourceReader, found: SourceObject) -> None:
    pin = Pin("", found.key, found.size_bytes, found.version_id, found.etag, found.mtime)
    reader.read(pin, 0, 1)


def add_source(project: Project, new: NewSource, user: User) -> Source:
    """Add a source.

    Raises SourceNameTaken, RefNotFound, StagingBranchReserved, and what opening it raises.
    """
    open_source(new.spec, INTERACTIVE)
    try:
        with transaction.atomic():
            source = Source.objects.create(
                project=project,
                dataset=_dataset(project, new, user),
                created_by=user,
                credentials=encrypted(new.credentials),
                next_scan_at=clock.now() if new.every_s else None,
                **{name: getattr(new, name) for name in _PLAIN},
            )
            named = {"name": source.name, "url": source.url, "dataset": new.dataset}
            audit.record(user, "source.added", source, project, source.dataset, **named)
    except IntegrityError as exc:
        raise SourceNameTaken(
            Sentence(
                "datasets.source_exists",
                "{project} already has a source {source}.",
                project=project.slug,
                source=new.name,
            )
        ) from exc
    return source


_PLAIN = (
    "name",
    "url",
    "branch",
    "endpoint",
    "region",
    "include",
    "exclude",
    "labels_from",
    "every_s",
)


def _dataset(project: Project, new: NewSource, user: User) -> Dataset:
    dataset = Dataset.objects.in_project(project).filter(name=new.dataset).first()
    if dataset is None:
        dataset = create_dataset(project, new.dataset, "", user)
    branch = dataset.branches.filter(name=new.branch).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, new.branch))
    check_not_staging(branch)
    return dataset


def change_source(source: Source, changes: dict[str, Any], user: User) -> Source:
    """Change schedule, patterns or credentials.

    The place itself stays: versions say by the source where their bytes are, and nobody sends
    credentials that they do not know elsewhere. Raises what opening the source raises.
    """
    with transaction.atomic():
        locked = Source.objects.select_for_update(of=("self",)).get(pk=source.pk)
        credentials = changes.pop("credentials", None)
        for name, value in changes.items():
            setattr(locked, name, value)
        if credentials is not None:
            locked.credentials = encrypted(credentials)
        open_source(locked.spec, INTERACTIVE)
        if "every_s" in changes:
            locked.next_scan_at = locked.next_time()
        locked.save()
        what = sorted([*changes, *(["credentials"] if credentials is not None else [])])
        audit.record(
            user, "source.changed", source, source.project, source.dataset,
            name=source.name, fields=what,
        )  # fmt: skip
        notify(locked)
    return Source.objects.in_project(source.project).get(pk=source.pk)


def remove_source(source: Source, user: User) -> None:
    """Forget a source and its credentials; its versions stay, and their bytes where they are.

    They cannot be read through Atom any more, except what nodes have packed already.
    """
    with transaction.atomic():
        locked = Source.objects.select_for_update().get(pk=source.pk)
        SourceScan.objects.filter(source=locked, state__in=ACTIVE_SCANS[:2]).update(
            state="cancelled", finished_at=Now()
        )
        Source.objects.filter(pk=locked.pk).update(
            state="removed", credentials="", every_s=None, next_scan_at=None
        )
        audit.record(
            user, "source.removed", source, source.project, source.dataset, name=source.name
        )
        outbox.emit(source.project_id, "source.removed", subject=source.pk)
        notify(source)


def notify(source: Source) -> None:
    """Tell pages that the source or its scan has changed."""
    live.publish(f"project.{source.project_id}", {"type": "source", "id": str(source.pk)})
