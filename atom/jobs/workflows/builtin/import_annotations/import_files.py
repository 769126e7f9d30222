"""Reads annotations and archives of a version: looks at them, or makes a version of them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from atom_sdk import run
from atom_sdk.amounts import counted
from atom_sdk.client import Client
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.client.refs import parse_ref
from atom_sdk.errors import AtomError
from atom_sdk.importers.effects import coverage, effects
from atom_sdk.importers.errors import ImportFailedError
from atom_sdk.importers.read_options import ReadOptions
from atom_sdk.importers.report import Report
from atom_sdk.importers.report_json import report_json
from atom_sdk.importers.sources import VersionSource
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.run.new_datasets import no_empty_dataset
from atom_sdk.run.stored_files import stored_files

# The server reads exactly this: see atom/jobs/imports/engines/import_reports.py.
FORMAT = "atom-import/1"
REPORT = "import.json"
LOOK, IMPORT = "look", "import"
WORDS = {"read": "reading", "scan": "comparing", "upload": "sending", "commit": "committing"}


class RunProgress:
    """Tells the run how far the current step of an import is."""

    def __init__(self) -> None:
        self._done = 0
        self._total = 0
        self._unit = ""

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step, whose length may be unknown."""
        self._done, self._total, self._unit = 0, total, unit
        self._show_progress(step)

    def advance(self, step: str, amount: int) -> None:
        """Count what is done."""
        self._done += amount
        self._show_progress(step)

    def note(self, text: str) -> None:
        """Write a note into the log."""
        print(text, flush=True)

    def _show_progress(self, step: str) -> None:
        share = self._done / self._total if self._total else 0.0
        counted_files = self._done and self._unit == "files"
        done = f": {counted(self._done, 'file')}" if counted_files else ""
        run.progress(min(share, 0.99), f"{WORDS.get(step, step)}{done}")


def main() -> int:
    """Look or import, and leave the report among the outputs. Raises RunFailure."""
    signal.signal(signal.SIGTERM, stop)
    params = dict(run.params)
    reference = input_reference()
    try:
        wanted = Import(source_of(params, reference), options_of(params, reference), RunProgress())
        if params["step"] == IMPORT:
            import_now(wanted, params, reference)
        else:
            look(wanted, params, reference)
    except ImportFailedError as error:
        raise refused(error, reference) from error
    except AtomError as error:
        reason = f"{error} {error.hint}".strip()
        output = str(params["output"])
        sentence = f"The result could not be pushed to {output}: {reason}"
        raise run.RunFailure("result_not_pushed", sentence, output=output, error=reason) from error
    return 0


def look(wanted: Import, params: dict[str, Any], reference: str) -> None:
    """Say what an import would take and lose. Raises ImportFailedError."""
    report = wanted.look()
    note_left_labels(report, params, reference)
    refusal = wanted.refusal(report)
    found = {"refusal": refusal and {"code": refusal.code, "detail": str(refusal)}}
    leave_report(report, params, reference, found)
    print("Nothing was imported: this was a look.", flush=True)


def import_now(wanted: Import, params: dict[str, Any], reference: str) -> None:
    """Make the next version of the output. Raises ImportFailedError, AtomError."""
    output = str(params["output"])
    with Client() as client, no_empty_dataset(client, output):
        done = client.datasets.import_from(wanted, output)
    version = {
        "dataset": parse_ref(output).dataset,
        "ref": done.push.version["ref"],
        "unchanged": done.push.unchanged,
    }
    leave_report(done.report, params, reference, {"refusal": None, "version": version})
    print(f"{counted(done.report.files, 'file')} imported as {version['ref']}.", flush=True)


def source_of(params: dict[str, Any], reference: str) -> VersionSource:
    """Return the part of the version that is read."""
    files = stored_files(run.dataset("dataset"))
    return VersionSource(files, reference, params.get("path") or "", params.get("images") or "")


def options_of(params: dict[str, Any], reference: str) -> ImportOptions:
    """Return how it is read, of the run's parameters."""
    delimiter = params.get("delimiter") or None
    return ImportOptions(
        file_format=params["file_format"],
        message=params.get("message") or "",
        replaces=not params["keep_others"],
        is_strict=params["strict"],
        allowed_loss=params["allowed_loss"],
        reading=ReadOptions(params["yolo_task"] if params["yolo_task"] != "auto" else ""),
        text=TextOptions(
            params.get("zip_encoding") or None,
            params.get("encoding") or None,
            "\t" if delimiter == "tab" else delimiter,
            params["boxes"],
        ),
        into=params.get("into") or "",
        most_lost=params.get("most_lost"),
        provenance={
            "run": os.environ["ATOM_RUN_ID"],
            "workflow": "import-annotations",
            "inputs": [reference],
            "parameters": params,
        },
    )


def note_left_labels(report: Report, params: dict[str, Any], reference: str) -> None:
    """Note that another dataset does not get the labels and splits that the version has itself."""
    if parse_ref(str(params["output"])).dataset == parse_ref(reference).dataset:
        return
    index = run.dataset("dataset").dataset.index
    for codes, noun in ((index.label_codes, "label"), (index.split_codes, "place in a split")):
        count = int((codes >= 0).sum())
        if count:
            plural = "places in splits" if noun != "label" else ""
            report.note(
                f"{counted(count, noun, plural)} that {reference} has itself "
                f"{'is' if count == 1 else 'are'} not imported; only its files are read"
            )


def leave_report(
    report: Report, params: dict[str, Any], reference: str, found: dict[str, Any]
) -> None:
    """Write the report for the server, and the most important of it into the log."""
    document = {
        "format": FORMAT,
        "step": params["step"],
        "source": reference,
        "output": params["output"],
        "version": None,
        **found,
        "report": report_json(report, params["allowed_loss"]),
    }
    path = run.output_dir() / REPORT
    path.write_text(json.dumps(document, indent=1), "utf-8")
    print(f"{report.source} is {report.importer}: {report.why}.", flush=True)
    for line in (*effects(report), *coverage(report), *report.notes):
        print(f"{ascii(line)[1:-1]}.", flush=True)


def input_reference() -> str:
    """Return the version that is read, such as pets@v2."""
    views = json.loads(Path(os.environ["ATOM_DATASETS"]).read_text("utf-8"))
    return str(views["dataset"]["reference"])


def refused(error: ImportFailedError, reference: str) -> run.RunFailure:
    """Return the reason of a run that imported nothing, by the importer's own code."""
    return run.RunFailure(
        "import_refused", str(error), source=reference, reason=error.code, error=str(error)
    )


def stop(*_: object) -> None:
    """End as by an exception when the run is cancelled, so that what was begun is tidied."""
    raise SystemExit("The run was cancelled.")


if __name__ == "__main__":
    sys.exit(run.main(main))
