"""`import`: open a source, read its format, check, and push what it holds."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.amounts import counted
from atom_sdk.client.config import cache_path
from atom_sdk.client.progress import Progress
from atom_sdk.client.push.import_metadata import ImportMetadata
from atom_sdk.client.push.push import Push, PushOptions, PushResult
from atom_sdk.client.transport.http import Http
from atom_sdk.importers.collection import Collected, ImportContents, collect, take_links
from atom_sdk.importers.downloads import DownloadLimits, Downloads
from atom_sdk.importers.effects import effects, loss_text, percent
from atom_sdk.importers.errors import (
    AllowedLossError,
    ImportFailedError,
    ImportProblemsError,
    LabelsLostError,
    NothingToImportError,
)
from atom_sdk.importers.formats import AUTO, choose, items_of
from atom_sdk.importers.items import Item
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.losses import DEFAULT_ALLOWED_LOSS
from atom_sdk.importers.near_misses import find_near_misses
from atom_sdk.importers.read_options import Reading, ReadOptions
from atom_sdk.importers.report import Report
from atom_sdk.importers.report_json import report_json
from atom_sdk.importers.sources import PathSource, Source
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.label_formats.losses import CHANGED

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets

_ADVANCE_EVERY = 500
_NAMED_REASONS = 3


@dataclass(frozen=True)
class ImportOptions:
    """How a source is imported.

    `file_format` is one of `atom_sdk.importers.FORMATS`; `replaces` makes the version hold what the
    source holds and nothing else; `is_strict` refuses a source of which something is left out.
    `images` has the pictures where `source` has only their annotations.
    `split` draws splits as `PushOptions` does; those that the source gives stay. `allowed_loss` is
    the share of objects and labels that may be lost, 0 to 1, of all and of each class of 20 or
    more; `most_lost` bounds their number, where a person has accepted one. `into` is the folder of
    the version that the files go to. `provenance` is kept by the version beside the report's own
    counts. Links are kept where files are taken as they are; `follow_links` takes what they lead
    to.
    """

    file_format: str = AUTO
    message: str = ""
    split: dict[str, Any] | None = None
    replaces: bool = False
    is_strict: bool = False
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    downloads: DownloadLimits = field(default_factory=DownloadLimits)
    allowed_loss: float = DEFAULT_ALLOWED_LOSS
    reading: ReadOptions = field(default_factory=ReadOptions)
    text: TextOptions = field(default_factory=TextOptions)
    images: Path | None = None
    follow_links: bool = False
    into: str = ""
    most_lost: int | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises AllowedLossError."""
        if not 0 <= self.allowed_loss <= 1:
            raise AllowedLossError(f"{self.allowed_loss!r} is no share from 0 to 1.")


@dataclass(frozen=True)
class ImportResult:
    """The result of an import: the push, and the report on the source."""

    push: PushResult
    report: Report
    allowed_loss: float = DEFAULT_ALLOWED_LOSS

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {**asdict(self.push), "import": report_json(self.report, self.allowed_loss)}


class Import:
    """One import of one source."""

    def __init__(self, source: Path | Source, options: ImportOptions, progress: Progress) -> None:
        """A path is read with the pictures of the options' `images`."""
        if isinstance(source, Path):
            source = PathSource(source, options.images, follow_links=options.follow_links)
        self._source: Source = source
        self._options = options
        self._progress = progress

    def look(self) -> Report:
        """Return what an import would take and leave out; nothing is downloaded or sent.

        Raises ImportFailedError.
        """
        with self._collected(is_dry=True) as (_, report):
            return report

    def run(self, datasets: Datasets, http: Http, reference: str) -> ImportResult:
        """Import into `dataset[@branch]`. Raises ImportFailedError and what a push raises."""
        with self._collected() as (found, report):
            self._check(report)
            contents = ImportContents(self._source.key, found.blobs, found.links)
            push = Push(datasets, http, self._progress, self._push_options(found, report))
            sent = push.send(contents, reference)
            return ImportResult(sent, report, self._options.allowed_loss)

    def refusal(self, report: Report) -> ImportFailedError | None:
        """Return why an import with this report would commit nothing, None if it would."""
        try:
            self._check(report)
        except ImportFailedError as refused:
            return refused
        return None

    @contextmanager
    def _collected(self, *, is_dry: bool = False) -> Iterator[tuple[Collected, Report]]:
        """Open the source and read it; its scratch folder goes once the import is through."""
        report = Report(self._source.name)
        folder = _scratch(self._source)
        with ExitStack() as stack:
            options = self._options
            tree, kind = self._source.open(options.limits, folder, report, options.text)
            stack.callback(tree.close)
            limits = self._options.downloads
            downloads = stack.enter_context(Downloads(folder, limits, report, is_dry=is_dry))
            report.importer, report.why = choose(self._options.file_format, kind, tree)
            reading = Reading(downloads, self._options.reading)
            items = items_of(report.importer, tree, report, reading)
            collected = collect(self._with_progress(items), report)
            for code, count in report.changes.most_common():
                report.note(str(CHANGED[code](count)))
            take_links(collected, tree.links, report, self._options.into)
            if self._options.file_format == AUTO:
                find_near_misses(tree, report)
            yield collected, report
        # A look leaves what an import that was cut off has fetched.
        if not is_dry:
            shutil.rmtree(folder, ignore_errors=True)

    def _with_progress(self, items: Iterator[Item]) -> Iterator[Item]:
        self._progress.start("read", 0, "files")
        number = 0
        for number, item in enumerate(items, 1):
            if number % _ADVANCE_EVERY == 0:
                self._progress.advance("read", _ADVANCE_EVERY)
            into = self._options.into.strip("/")
            yield replace(item, path=f"{into}/{item.path}") if into else item
        self._progress.advance("read", number % _ADVANCE_EVERY)

    def _check(self, report: Report) -> None:
        reasons = [f"{count} because {why}" for why, count in report.skipped.most_common()]
        said = "; ".join(reasons[:_NAMED_REASONS]) or "it is empty"
        if not report.files and not report.links:
            raise NothingToImportError(f"There is nothing to import in {report.source}: {said}.")
        if self._options.is_strict:
            _check_strictly(report, said)
        elif above := report.losses_above(self._options.allowed_loss):
            allowed = percent(self._options.allowed_loss)
            raise LabelsLostError(
                f"Nothing was committed: {report.source} would lose {loss_text(above)}; "
                f"{allowed} may be lost. {_sentences(effects(report))}",
                above,
                self._options.allowed_loss,
            )

        else:
            self._check_number(report)

    def _check_number(self, report: Report) -> None:
        """Raises LabelsLostError where more is lost than a person has accepted by its number."""
        lost, most = report.lost_total, self._options.most_lost
        if most is not None and lost > most:
            raise LabelsLostError(
                f"Nothing was committed: {report.source} would lose "
                f"{counted(lost, 'object or label', 'objects and labels')}; {most} may be lost.",
                report.losses(),
                self._options.allowed_loss,
            )

    def _push_options(self, found: Collected, report: Report) -> PushOptions:
        origin = {**report.provenance(self._options.allowed_loss), **self._options.provenance}
        metadata = ImportMetadata(
            found.labels, found.splits, found.documents, not self._options.replaces, origin
        )
        message = self._options.message or f"Import of {report.source} ({report.importer})"
        options = PushOptions(message, split=self._options.split, metadata=metadata)
        return replace(options, attributes=found.attributes) if found.attributes else options


def _check_strictly(report: Report, reasons: str) -> None:
    """Raises ImportProblemsError where anything is left out, not understood or not there."""
    if report.problems:
        raise ImportProblemsError(
            f"{counted(report.skipped_total, 'problem')}: {reasons}. "
            f"The first is {report.problems[0].subject!r}."
        )
    if report.near_misses:
        first = report.near_misses[0]
        raise ImportProblemsError(f"{first.subject}: {first.reason}.")
    if report.missing.count:
        entries = counted(report.missing.count, "entry", "entries")
        first_entry = report.missing.names[0]
        raise ImportProblemsError(f"{entries} of lists with no such file, first {first_entry!r}.")


def _sentences(lines: Sequence[str]) -> str:
    return " ".join(f"{line}." for line in lines)


def _scratch(source: Source) -> Path:
    """Return a folder of this source, so that what was downloaded is found again."""
    name = hashlib.sha256(source.key).hexdigest()[:32]
    folder = cache_path() / "import" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
