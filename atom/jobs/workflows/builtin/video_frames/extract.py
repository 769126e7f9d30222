"""Takes frames or clips out of a dataset's videos, and pushes them as a version of another."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutting import BrokenVideoError, Cut, cut_video  # type: ignore[import-not-found]

from atom_sdk import run
from atom_sdk.amounts import counted
from atom_sdk.client import Client
from atom_sdk.client.push.import_metadata import ImportMetadata
from atom_sdk.client.push.push import PushOptions
from atom_sdk.client.refs import parse_ref
from atom_sdk.errors import AtomError
from atom_sdk.media_types import media_type_of
from atom_sdk.run.new_datasets import no_empty_dataset

SPLITS = ("train", "val", "test")
NAMED_BROKEN = 20
# The share of the work that is done when everything is cut: it is to be sent yet.
CUTTING = 0.9
# Those that not every system has a media type for.
ENDINGS = frozenset([".mkv", ".m4v", ".ts", ".mts", ".flv", ".ogv", ".wmv", ".3gp", ".mxf"])


@dataclass
class Result:
    """The results: attributes, labels and splits by path; broken videos with the reason."""

    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    videos: int = 0


def main() -> int:
    """Cut every video, then push; return the exit code. Raises RunFailure."""
    signal.signal(signal.SIGTERM, stop)
    output = str(run.params["output"])
    try:
        return cut_and_push(output)
    except run.RunFailure:
        raise
    except AtomError as error:
        reason = f"{error} {error.hint}".strip()
        sentence = f"The result could not be pushed to {output}: {reason}"
        raise run.RunFailure("result_not_pushed", sentence, output=output, error=reason) from error


def cut_and_push(output: str) -> int:
    """Make the next version of `output`. Raises AtomError, RunFailure."""
    reference = input_reference()
    check_output(output, reference)
    samples = run.dataset("dataset")
    folder = Path.cwd() / "extracted"
    shutil.rmtree(folder, ignore_errors=True)
    result = extract(samples, run.params.get("prefix", "") or "", cut_of(run.params), folder)
    report(result)
    check_result(result, reference, len(samples))
    pushed = push(folder, output, result, provenance(reference, result))
    shutil.rmtree(folder, ignore_errors=True)
    print(
        f"{counted(len(result.attributes), 'file')} pushed as {output} {pushed['ref']}.", flush=True
    )
    return 0


def check_output(output: str, reference: str) -> None:
    """Raise RunFailure for an output that would take the place of the videos."""
    dataset = parse_ref(output).dataset
    if dataset == reference.partition("@")[0]:
        sentence = f"The output must be another dataset than {dataset}, which has the videos."
        raise run.RunFailure("output_is_input", sentence, output=output)


def check_result(result: Result, reference: str, files: int) -> None:
    """Raise RunFailure if there is nothing to push."""
    if not result.videos:
        sentence = f"None of the {files} files is a video below the chosen folder."
        raise run.RunFailure("no_videos", sentence, dataset=reference, files=files)
    if not result.attributes:
        sentence = f"There is nothing to push: none of {result.videos} videos could be read."
        raise run.RunFailure("no_readable_video", sentence, dataset=reference, videos=result.videos)


def cut_of(params: Any) -> Cut:
    """Return what to take, of the run's parameters."""
    names = Cut.__dataclass_fields__
    return Cut(**{name: params[name] for name in names if name in params})


def extract(samples: Any, prefix: str, cut: Cut, folder: Path) -> Result:
    """Write the pieces of every video below `folder`, each in a folder named as its video."""
    result = Result()
    rows = [number for number in range(len(samples)) if is_selected(samples, number, prefix)]
    for done, number in enumerate(rows):
        sample = samples[number]
        run.progress(CUTTING * done / len(rows), f"video {done + 1} of {len(rows)}")
        result.videos += 1
        try:
            extract_video(sample, cut, folder, result)
        except BrokenVideoError as broken:
            result.broken[sample.path] = str(broken)
            shutil.rmtree(folder / sample.path, ignore_errors=True)
            print(f"{sample.path} is left out: {broken}", flush=True)
    return result


def is_selected(samples: Any, number: int, prefix: str) -> bool:
    """Return whether a sample is a video below the prefix, by its name; nothing is read."""
    path = samples.dataset.index.path_of(int(samples.rows[number]))
    below = not prefix or path.startswith(f"{prefix.rstrip('/')}/")
    is_video = media_type_of(path).startswith("video/") or Path(path).suffix.lower() in ENDINGS
    return below and is_video


def extract_video(sample: Any, cut: Cut, folder: Path, result: Result) -> None:
    """Cut one video. Raises BrokenVideoError."""
    target = folder / sample.path
    target.mkdir(parents=True)
    with tempfile.NamedTemporaryFile(suffix=Path(sample.path).suffix) as video:
        video.write(sample.data)
        video.flush()
        pieces = cut_video(Path(video.name), target, cut)
    for piece in pieces:
        path = piece.file.relative_to(folder).as_posix()
        times = {"duration_s": piece.duration_s} if piece.duration_s else {}
        result.attributes[path] = {"source": sample.path, "time_s": piece.time_s, **times}
        if sample.label is not None:
            result.labels[path] = sample.label
        # Frames of one video must not be in two splits.
        if sample.split in SPLITS:
            result.splits[path] = sample.split


def report(result: Result) -> None:
    """Leave a report among the run's outputs, and say the most important of it."""
    found = {"videos": result.videos, "files": len(result.attributes), "broken": result.broken}
    (run.output_dir() / "report.json").write_text(json.dumps(found, indent=2, ensure_ascii=False))
    print(
        f"{counted(result.videos, 'video')}, {counted(len(result.attributes), 'file')}, "
        f"{len(result.broken)} broken.",
        flush=True,
    )


def input_reference() -> str:
    """Return the version that is read, such as dashcam@v2."""
    views = json.loads(Path(os.environ["ATOM_DATASETS"]).read_text("utf-8"))
    return str(views["dataset"]["reference"])


def provenance(reference: str, result: Result) -> dict[str, Any]:
    """Return what the version keeps of where it came from."""
    counts = {"videos": result.videos, "broken": len(result.broken)}
    found = {
        "run": os.environ["ATOM_RUN_ID"],
        "workflow": "video-frames",
        "inputs": [reference],
        "parameters": dict(run.params),
        "counts": {**counts, "files": len(result.attributes)},
        "broken": dict(list(result.broken.items())[:NAMED_BROKEN]),
    }
    return {"kind": "run", **found}


def push(folder: Path, output: str, result: Result, origin: dict[str, Any]) -> dict[str, Any]:
    """Make what is in the folder the next version of the output; the same again makes none."""
    run.progress(CUTTING, "sending")
    metadata = ImportMetadata(result.labels, result.splits, provenance=origin)
    message = f"{origin['parameters'].get('mode', 'frames')} of {origin['inputs'][0]}"
    options = PushOptions(message, attributes=result.attributes, metadata=metadata)
    with Client() as client, no_empty_dataset(client, output):
        version: dict[str, Any] = client.datasets.push(folder, output, options).version
    return version


def stop(*_: object) -> None:
    """End as by an exception when the run is cancelled, so that what was begun is tidied."""
    raise SystemExit("The run was cancelled.")


if __name__ == "__main__":
    sys.exit(run.main(main))
