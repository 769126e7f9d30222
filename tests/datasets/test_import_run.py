"""Imports in the portal: a run that looks, its report over the API, and the run that imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from atom.jobs.attempts.actions import write_access
from atom.jobs.imports.engines.import_reports import MalformedImportReport, parse_import_report
from atom.jobs.models import Run
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.runs.actions.runs import create_run
from atom.jobs.workflows.actions import workflows
from atom_sdk.client import ApiError, Client
from atom_sdk.run.new_datasets import no_empty_dataset
from tests.datasets.exports import coco_files, picture, written, zipped
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt
from tests.factories.models_registry import store_file

SCRIPT = workflows.BUILT_IN / "import_annotations" / "import_files.py"
FILE = "import.json"


@dataclass(frozen=True)
class Stage:
    """A project with `pets@v1`, and what an import over the API needs."""

    client: Client
    pusher: Pusher
    api: APIClient
    folder: Path

    def push(self, files: dict[str, bytes], name: str = "pets") -> None:
        """Push files as the next version of a dataset."""
        folder = self.folder / f"push-{len(list(self.folder.iterdir()))}"
        self.client.datasets.push(written(files, folder), name)

    def look(self, **body: Any) -> Run:
        """Ask for a look over the API and carry out its run."""
        asked = {"source": "pets@v1", "output": "pets", **body}
        address = f"/api/v1/projects/{self.pusher.project.slug}/imports/"
        answer = self.api.post(address, asked, format="json")
        assert answer.status_code == 201, answer.json()
        return self.carried_out(answer.json()["id"])

    def report(self, run: Run) -> dict[str, Any]:
        """Return the report of a run, as the API tells it."""
        answer = self.api.get(f"/api/v1/runs/{run.pk}/import-report/")
        assert answer.status_code == 200, answer.json()
        found: dict[str, Any] = answer.json()
        return found

    def confirm(self, run: Run, accepted: float | None = None) -> Any:
        """Confirm a look over the API."""
        body = {} if accepted is None else {"accepted_loss": accepted}
        return self.api.post(f"/api/v1/runs/{run.pk}/import/", body, format="json")

    def carried_out(self, run_id: str) -> Run:
        """Do the work of a run that the API made, as its runner does."""
        run = Run.objects.get(pk=run_id)
        folder = self.folder / f"run-{run.number}"
        done = self.started(run, folder, dict(run.parameters))
        out = done.communicate()
        assert done.returncode == 0, out
        store_file(run.attempts.get(), FILE, (folder / "outputs" / FILE).read_bytes())
        return run

    def started(self, run: Run, folder: Path, parameters: dict[str, Any]) -> subprocess.Popen[str]:
        """Start the command of a run with the files that the runner gives it."""
        attempt = make_attempt(run)
        (folder / "outputs").mkdir(parents=True, exist_ok=True)
        reference = parameters["dataset"]
        dataset = self.client.datasets.open(reference)
        view = {"index_path": str(dataset.index.path), "pack_dir": str(dataset.pack_dir)}
        datasets, given = folder / "datasets.json", folder / "parameters.json"
        datasets.write_text(json.dumps({"dataset": {**view, "reference": reference}}))
        given.write_text(json.dumps(parameters))
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {
            "ATOM_RUN_ID": str(run.pk),
            "ATOM_RUN_DIR": str(folder),
            "ATOM_DATASETS": str(datasets),
            "ATOM_PARAMETERS": str(given),
            "ATOM_METRICS_FILE": str(folder / "metrics.jsonl"),
            "ATOM_OUTPUT_DIR": str(folder / "outputs"),
            "ATOM_CACHE": str(folder / "cache"),
            "ATOM_CONFIG": str(folder / "none.json"),
        }
        token = write_access.grant(attempt, self.client.config.url)
        return subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            cwd=folder,
            env={**kept, **environment, **token},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def stage(client: Client, pusher: Pusher, tmp_path: Path) -> Stage:
    """A project with a machine, and nobody's files yet."""
    call_command("sync_workflows")
    # Runs wait here, and the test does their work.
    ensure_local_node()
    Node.objects.update(schedulable=False)
    api = APIClient()
    api.force_authenticate(pusher.user)
    (tmp_path / "stage").mkdir()
    return Stage(client, pusher, api, tmp_path / "stage")


def classes_of(row: dict[str, Any]) -> dict[str, int]:
    """Return how many objects of each class an entry has."""
    return dict(Counter(one["label"] for one in row["annotations"]["objects"]))


def failure_of(stage: Stage, run: Run) -> dict[str, Any]:
    folder = stage.folder / f"run-{run.number}"
    found: dict[str, Any] = json.loads((folder / "failure.json").read_text())
    return found


def test_a_loss_is_told_accepted_as_a_number_and_kept_with_the_version(stage: Stage) -> None:
    stage.push({"pets.zip": zipped(coco_files())})
    look = stage.look(path="pets.zip", output="pets-boxes", message="from the vet")
    found = stage.report(look)
    losses = found["report"]["losses"]
    assert losses["effects"] == ["3 objects lost; their pictures stay with their other objects"]
    assert losses["needed"] == 0.03
    assert [(row.get("label"), row["source"], row["lost"]) for row in losses["above"]] == [
        (None, 120, 3),
        ("cat", 100, 3),
    ]
    assert (found["refusal"]["code"], found["version"]) == ("import_labels_lost", None)
    assert "pets-boxes" not in {row["name"] for row in stage.client.datasets.list()}

    for accepted in (None, 0.0299):
        refused = stage.confirm(look, accepted)
        assert (refused.status_code, refused.json()["code"]) == (409, "import_loss_not_accepted")
    assert refused.json()["detail"] == (
        "The import would lose 3 of 100 objects of 'cat' (3 %); 2.99 % was accepted."
    )
    accepted_run = stage.confirm(look, losses["needed"])
    assert accepted_run.status_code == 201, accepted_run.json()
    made = stage.carried_out(accepted_run.json()["id"])
    assert (made.parameters["allowed_loss"], made.parameters["most_lost"]) == (0.03, 3)
    assert stage.report(made)["version"] == {
        "dataset": "pets-boxes", "ref": "v1", "unchanged": False,
    }  # fmt: skip

    version = stage.client.datasets.version("pets-boxes@v1")
    origin = version["provenance"]
    assert (origin["kind"], origin["inputs"]) == ("import", ["pets@v1"])
    assert origin["made_by"]["run"] == str(made.pk)
    assert origin["import"]["source"] == "pets@v1:pets.zip"
    assert origin["import"]["allowed_loss"] == 0.03
    counts = origin["import"]["counts"]
    assert (counts["files"], counts["objects"], counts["lost_objects"]) == (12, 117, 3)
    assert (version["message"], version["file_count"]) == ("from the vet", 12)
    (row, *_) = stage.client.datasets.entries("pets-boxes@v1")
    assert (row["path"], row["split"]) == ("images/00.png", "train")
    assert classes_of(row) == {"cat": 8, "dog": 1}
    again = stage.confirm(made, 1)
    assert again.json()["code"] == "import_not_a_look"


def test_annotations_of_the_same_dataset_stay_with_its_own_files(stage: Stage) -> None:
    stage.push({**coco_files(lost=0), "notes.txt": b"read me"})
    look = stage.look()
    assert stage.report(look)["refusal"] is None
    made = stage.carried_out(stage.confirm(look).json()["id"])
    assert stage.report(made)["version"]["ref"] == "v2"
    version = stage.client.datasets.version("pets@v2")
    assert (version["added"], version["removed"], version["file_count"]) == (0, 0, 14)
    rows = {row["path"]: row for row in stage.client.datasets.entries("pets@v2")}
    assert classes_of(rows["images/03.png"]) == {"cat": 9, "dog": 1}
    assert rows["notes.txt"]["split"] is None

    alone = stage.look(keep_others=False)
    stage.carried_out(stage.confirm(alone).json()["id"])
    paths = [row["path"] for row in stage.client.datasets.entries("pets@v3")]
    assert paths == [f"images/{number:02}.png" for number in range(12)]


def test_a_folder_goes_back_to_its_own_folder_and_pictures_may_be_apart(stage: Stage) -> None:
    files = coco_files(lost=0)
    annotations = {p: data for p, data in files.items() if p.endswith(".json")}
    pictures = {p: data for p, data in files.items() if p.endswith(".png")}
    stage.push({"raw/a/x.txt": b"x", **{f"raw/{path}": data for path, data in files.items()}})
    look = stage.look(path="raw/", into="raw")
    stage.carried_out(stage.confirm(look).json()["id"])
    version = stage.client.datasets.version("pets@v2")
    assert (version["added"], version["removed"]) == (0, 0)

    stage.push({"notes.zip": zipped(annotations), "photos.zip": zipped(pictures)}, "apart")
    apart = stage.look(source="apart@v1", path="notes.zip", images="photos.zip", output="joined")
    assert stage.report(apart)["report"]["objects"] == 120


@pytest.mark.parametrize("accepted", [{"allowed_loss": 0.02}, {"allowed_loss": 1, "most_lost": 2}])
def test_the_command_checks_the_accepted_loss_once_more(
    accepted: dict[str, Any], stage: Stage
) -> None:
    stage.push({"pets.zip": zipped(coco_files())})
    look = stage.look(path="pets.zip", output="never")
    run = replace_step(stage, look, **accepted)
    folder = stage.folder / f"run-{run.number}"
    done = stage.started(run, folder, dict(run.parameters))
    done.communicate()
    assert done.returncode == 1
    failure = failure_of(stage, run)
    assert (failure["code"], failure["params"]["reason"]) == (
        "import_refused",
        "import_labels_lost",
    )
    assert "never" not in {row["name"] for row in stage.client.datasets.list()}


def replace_step(stage: Stage, look: Run, **parameters: Any) -> Run:
    """Return a run that imports with other parameters than its look had."""
    values = {**look.parameters, "step": "import", **parameters}
    request = RunRequest(workflow="import-annotations", parameters=values)
    return create_run(stage.pusher.project, stage.pusher.user, request)


def test_an_import_that_cannot_be_committed_leaves_no_dataset(stage: Stage) -> None:
    stage.push({"pets.zip": zipped(coco_files(lost=0))})
    look = stage.look(path="pets.zip", output="never")
    # No branch is called so, which the push finds when the dataset is there.
    run = replace_step(stage, look, output="never@v7")
    done = stage.started(run, stage.folder / f"run-{run.number}", dict(run.parameters))
    done.communicate()
    assert failure_of(stage, run)["code"] == "result_not_pushed"
    assert "never" not in {row["name"] for row in stage.client.datasets.list()}


@pytest.mark.parametrize(
    ("files", "body", "reason"),
    [
        ({"cut.zip": zipped(coco_files())[:400]}, {"path": "cut.zip"}, "archive_damaged"),
        ({"notes.txt": b"text"}, {"path": "notes.txt"}, "import_source_unreadable"),
        ({"a.png": picture(1)}, {"format": "coco"}, "import_format_mismatch"),
        ({"a.zip": b"PK\x05\x06" + bytes(18)}, {"zip_encoding": "klingon"}, "encoding_unknown"),
    ],
)
def test_files_that_cannot_be_read_fail_the_look_with_their_reason(
    files: dict[str, bytes], body: dict[str, Any], reason: str, stage: Stage
) -> None:
    stage.push(files)
    address = f"/api/v1/projects/{stage.pusher.project.slug}/imports/"
    asked = {"source": "pets@v1", "output": "pets", **body}
    run = Run.objects.get(pk=stage.api.post(address, asked, format="json").json()["id"])
    done = stage.started(run, stage.folder / f"run-{run.number}", dict(run.parameters))
    out = done.communicate()
    assert done.returncode == 1, out
    failure = failure_of(stage, run)
    assert (failure["code"], failure["params"]["reason"]) == ("import_refused", reason)
    assert stage.api.get(f"/api/v1/runs/{run.pk}/import-report/").status_code == 404


def test_nothing_to_import_is_told_with_what_was_near(stage: Stage) -> None:
    labelme = b'{"version": "5.1", "shapes": [], "imagePath": "a.png"}'
    stage.push({"a.png": picture(1), "a.json": labelme})
    look = stage.look(strict=True)
    found = stage.report(look)
    assert found["report"]["format"] == "folder"
    assert [miss["subject"] for miss in found["report"]["near_misses"]] == ["a.json"]
    refused = stage.confirm(look)
    assert (refused.status_code, refused.json()["code"]) == (409, "import_refused")
    assert "LabelMe" in refused.json()["detail"]


def test_another_dataset_is_told_which_labels_it_does_not_get(stage: Stage, tmp_path: Path) -> None:
    stage.push(coco_files(lost=0))
    stage.carried_out(stage.confirm(stage.look()).json()["id"])
    look = stage.look(source="pets@v2", output="elsewhere")
    assert any(
        note.startswith("12 places in splits") for note in stage.report(look)["report"]["notes"]
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"source": "pets@v9"}, "source"),
        ({"source": "nothing here"}, "source"),
        ({"path": "gone.zip"}, "path"),
        ({"images": "gone/"}, "images"),
        ({"output": "pets@v1"}, "output"),
        ({"output": "Not A Name"}, "output"),
        ({"output": "atom://elsewhere/pets"}, "output"),
        ({"format": "xlsx"}, "format"),
        ({"allowed_loss": 1.5}, "allowed_loss"),
    ],
)
def test_a_request_that_cannot_be_looked_at_names_its_field(
    body: dict[str, Any], field: str, stage: Stage
) -> None:
    stage.push({"a.png": picture(1)})
    address = f"/api/v1/projects/{stage.pusher.project.slug}/imports/"
    asked = {"source": "pets@v1", "output": "pets", **body}
    answer = stage.api.post(address, asked, format="json")
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert not Run.objects.filter(workflow__slug="import-annotations").exists()


def test_who_only_looks_at_a_project_imports_nothing(stage: Stage) -> None:
    stage.push({"pets.zip": zipped(coco_files(lost=0))})
    look = stage.look(path="pets.zip")
    viewer = APIClient()
    viewer.force_authenticate(make_member(stage.pusher.project, "viewer"))
    reading = replace(stage, api=viewer)
    assert reading.report(look)["report"]["objects"] == 120
    assert reading.confirm(look).status_code == 403
    address = f"/api/v1/projects/{stage.pusher.project.slug}/imports/"
    assert viewer.post(address, {"source": "pets", "output": "pets"}).status_code == 403


def test_a_report_of_another_run_or_form_is_refused(stage: Stage) -> None:
    stage.push({"pets.zip": zipped(coco_files(lost=0))})
    look = stage.look(path="pets.zip")
    document = (stage.folder / f"run-{look.number}" / "outputs" / FILE).read_bytes()
    assert parse_import_report(document).is_look
    request = RunRequest(command=["true"])
    own = make_attempt(create_run(stage.pusher.project, stage.pusher.user, request))
    store_file(own, FILE, document)
    answer = stage.api.get(f"/api/v1/runs/{own.run_id}/import-report/")
    assert (answer.status_code, answer.json()["code"]) == (404, "import_report_missing")
    store_file(make_attempt(look), FILE, document.replace(b'"files": 12', b'"files": "12"'))
    answer = stage.api.get(f"/api/v1/runs/{look.pk}/import-report/")
    assert (answer.status_code, answer.json()["code"]) == (409, "import_report_malformed")
    assert "it.report.files" in answer.json()["detail"]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"format": "atom-import/1"}'])
def test_what_is_no_report_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedImportReport):
        parse_import_report(data)


def test_signs_are_named_by_files_that_look_like_annotations(stage: Stage) -> None:
    stage.push({**coco_files(lost=0), "more/extra.tar.gz": b"x", "labels.csv": b"path\n"})
    address = (
        f"/api/v1/projects/{stage.pusher.project.slug}/datasets/pets/versions/v1/import-signs/"
    )
    found = stage.api.get(address).json()
    assert found["archives"] == [{"path": "more/extra.tar.gz", "size_bytes": 1}]
    assert [(sign["format"], sign["first"]) for sign in found["signs"]] == [
        ("coco", "annotations/instances_train.json"),
        ("csv", "labels.csv"),
    ]
    assert (found["pictures"], found["is_complete"], found["imported"]) == (12, True, False)
    with pytest.raises(ApiError):
        stage.client.datasets.version("pets@v2")


def end_while(client: Client, name: str, work: Callable[[], object]) -> None:
    """Do some work on a dataset, and end as a run does that is cancelled."""
    with no_empty_dataset(client, name):
        work()
        raise SystemExit


def test_a_run_that_is_cancelled_leaves_no_empty_dataset(stage: Stage) -> None:
    client, files = stage.client, {"a.png": picture(1)}
    stage.push(files)
    works: dict[str, Callable[[], object]] = {
        "new": lambda: client.datasets.get_or_create("new"),
        "pets": lambda: client.datasets.get("pets"),
        "filled": lambda: stage.push(files, "filled"),
    }
    for name, work in works.items():
        with pytest.raises(SystemExit):
            end_while(client, name, work)
    names = {row["name"] for row in client.datasets.list()}
    assert names & works.keys() == {"pets", "filled"}
