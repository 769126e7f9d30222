"""A look at the chosen data before a run is started, and the buttons that mend it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.clusters.actions import beat_local_node
from atom.datasets.browsing.engines import data_counts
from atom.datasets.browsing.engines.data_counts import DataCounts
from atom.datasets.browsing.engines.object_counts import ObjectCounts
from atom.datasets.commit_runner import run_commit
from atom.datasets.models import Version
from atom.jobs.models import Run
from atom.jobs.preflight.engines.preflight import DatasetSelection, check_data
from atom.jobs.workflows.engines.data_needs import DataNeeds, check_needs
from atom.models_registry.actions import create_model, register
from tests.datasets.commands import Atom, runner
from tests.datasets.pushing import Pusher, class_files
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.models_registry import make_trained_run

TRAINING = DataNeeds("image", labels=True, classes=2)
DETECTING = DataNeeds("image", objects=True)
SHAPES = {f"{shape}/{n:02d}.png": None for shape in ("circle", "square", "tri") for n in range(20)}


def counts(**changes: Any) -> DataCounts:
    plain: dict[str, Any] = {
        "version_files": 60,
        "files": 60,
        "labelled": 60,
        "is_exact": True,
        "has_splits": True,
        "labels": {"circle": 30, "square": 30},
        "splits": {"train": 40, "test": 20},
        "media": {"image": 60},
    }
    return DataCounts(**(plain | changes))


def codes(counted: DataCounts, needs: DataNeeds = TRAINING, **selected: Any) -> list[str]:
    asked = DatasetSelection("flowers@v1", counted, **selected)
    return [f"{one.level}:{one.code}" for one in check_data(needs, asked)]


@pytest.mark.parametrize(
    ("changes", "selected", "expected"),
    [
        ({}, {}, ["ok:fits"]),
        ({"labelled": 0, "labels": {}}, {}, ["error:no_labels"]),
        ({"labels": {"circle": 60}}, {}, ["error:too_few_classes"]),
        ({"files": 0}, {"splits": ["test"]}, ["error:split_empty"]),
        ({"files": 0}, {}, ["error:no_files"]),
        ({"media": {"text": 60}, "of_media": 0}, {}, ["error:no_media"]),
        ({"unreadable": 60}, {}, ["error:none_readable"]),
        ({}, {"quarantined_packs": 1}, ["error:quarantined"]),
        ({"labelled": 59}, {}, ["ok:fits", "warning:some_unlabelled"]),
        (
            {"labels": {"circle": 59, "square": 1}},
            {},
            ["ok:fits", "warning:small_class"],
        ),
        ({"unreadable": 3}, {}, ["ok:fits", "warning:some_unreadable"]),
        ({}, {"undecodable": {"a.png": "cut"}}, ["ok:fits", "warning:sample_unreadable"]),
        (
            {"splits": {}},
            {"splits": ["train", "val"]},
            ["ok:fits", "warning:no_test_split"],
        ),
        ({}, {"trained_on": 12, "model": "m@v1"}, ["ok:fits", "warning:seen_in_training"]),
        ({}, {"unread_training": ["old@v1"]}, ["ok:fits", "warning:training_unread"]),
        (
            {"is_exact": False, "labels": {}, "splits": {}, "media": {}},
            {"splits": ["train", "val"]},
            ["ok:fits", "warning:not_counted"],
        ),
        ({"is_exact": False, "labelled": 0, "labels": {}}, {}, ["error:no_labels"]),
    ],
)
def test_findings(changes: dict[str, Any], selected: dict[str, Any], expected: list[str]) -> None:
    assert codes(counts(**changes), **selected) == expected


DRAWN = ObjectCounts(60, 90, True, {"car": 50, "bike": 40}, {"train": 80, "test": 10})


@pytest.mark.parametrize(
    ("drawn", "selected", "expected"),
    [
        (DRAWN, {}, ["ok:fits"]),
        (ObjectCounts(), {}, ["error:no_objects"]),
        (ObjectCounts(60), {}, ["error:no_objects"]),
        (ObjectCounts(60, is_exact=False), {}, ["ok:fits"]),
        (ObjectCounts(0, is_exact=False), {}, ["error:no_objects"]),
        (replace(DRAWN, pictures=58), {}, ["ok:fits", "warning:some_not_annotated"]),
        (
            replace(DRAWN, by_split={"val": 90}),
            {"splits": ["train", "val"]},
            ["error:nothing_to_train_on"],
        ),
        (replace(DRAWN, by_split={"test": 90}), {"splits": ["test"]}, ["ok:fits"]),
    ],
)
def test_findings_of_a_workflow_that_needs_objects(
    drawn: ObjectCounts, selected: dict[str, Any], expected: list[str]
) -> None:
    """Labels of whole files count for nothing there."""
    plain = counts(labelled=0, labels={})
    assert codes(plain, DETECTING, drawn=drawn, **selected) == expected


def test_objects_are_counted_in_the_sentence() -> None:
    (check,) = check_data(DETECTING, DatasetSelection("streets@v1", counts(), drawn=DRAWN))
    assert check.sentence == "60 pictures, 60 annotated, 90 objects of 2 classes."
    (none,) = check_data(DETECTING, DatasetSelection("streets@v1", counts()))
    assert none.sentence == "60 pictures, none with objects: this workflow needs objects."
    assert none.remedies == ("label", "choose_version")


def test_no_labels_says_how_many_files_and_offers_the_folders() -> None:
    looks = counts(labelled=0, labels={}, class_folders=("circle", "square", "tri"))
    (check,) = check_data(TRAINING, DatasetSelection("flowers@v1", looks))
    assert check.sentence == "60 files, 0 labelled: this workflow needs labels."
    assert check.remedies == ("label_by_folder", "label", "choose_version")
    (plain,) = check_data(TRAINING, DatasetSelection("flowers@v1", counts(labelled=0, labels={})))
    assert plain.remedies == ("label", "choose_version")


def test_marked_pictures_are_counted_named_and_shown() -> None:
    marked = counts(unreadable=4, unreadable_paths=("a.png", "b.png", "c.png"))
    _, check = check_data(TRAINING, DatasetSelection("flowers@v1", marked))
    assert check.sentence == (
        "4 of 60 pictures cannot be read; the run skips them (a.png, b.png, c.png, …)."
    )
    assert check.remedies == ("show_unreadable",)


@pytest.mark.parametrize(
    "needs",
    [
        {"data": {}},
        {"dataset": {"label": True}},
        {"dataset": {"media": "sound"}},
        {"dataset": {"objects": 1}},
    ],
)
def test_needs_that_are_not_well_formed_are_refused(needs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs"):
        check_needs(needs, ["dataset"])


@pytest.fixture
def project(db: None) -> Project:
    call_command("sync_workflows")
    return make_project("vision")


@pytest.fixture
def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, "researcher"))
    return client


def look(api: APIClient, dataset: str, workflow: str = "image-classification", **more: Any) -> Any:
    body = {"workflow": workflow, "parameters": {"dataset": dataset, **more}}
    answer = api.post("/api/v1/projects/vision/runs/preflight/", body)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_a_version_without_labels_is_stopped_before_it_fails(
    api: APIClient, project: Project
) -> None:
    make_version(make_dataset(project, "flowers"), SHAPES)
    shown = look(api, "flowers@v1")
    (dataset,) = shown["datasets"]
    assert not shown["ok"]
    assert (dataset["files"], dataset["labelled"], dataset["branch"]) == (60, 0, "main")
    assert dataset["class_folders"] == ["circle", "square", "tri"]
    assert [(one["code"], one["params"]["files"]) for one in dataset["checks"]] == [
        ("no_labels", 60)
    ]


def test_a_query_narrows_what_is_looked_at(api: APIClient, project: Project) -> None:
    labels = {path: path.split("/")[0] for path in SHAPES}
    make_version(make_dataset(project, "flowers"), labels)
    assert look(api, "flowers@v1")["ok"]
    body = {
        "workflow": "image-classification",
        "parameters": {"dataset": "flowers@v1"},
        "selectors": {"dataset": {"where": "label = 'circle'"}},
    }
    shown = api.post("/api/v1/projects/vision/runs/preflight/", body).json()
    assert shown["datasets"][0]["labels"] == {"circle": 20}
    assert shown["datasets"][0]["checks"][0]["code"] == "too_few_classes"


def test_of_a_very_large_version_no_row_is_read(
    api: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_version(make_dataset(project, "flowers"), SHAPES)
    monkeypatch.setattr(data_counts, "COUNTED_FILES", 10)
    monkeypatch.setattr(data_counts, "_tables", None)
    (dataset,) = look(api, "flowers@v1")["datasets"]
    assert (dataset["exact"], dataset["checks"][0]["code"]) == (False, "no_labels")


def test_a_dataset_that_is_not_there_is_an_error_of_its_field(api: APIClient) -> None:
    shown = look(api, "gone@v1")
    assert shown["datasets"] == []
    assert "parameters.dataset" in shown["errors"]


@pytest.mark.parametrize("state", ["kept", "collected"])
def test_a_model_whose_training_data_is_gone_can_be_evaluated(
    api: APIClient, project: Project, state: str
) -> None:
    labels = {path: path.split("/")[0] for path in SHAPES}
    trained, now = (make_version(make_dataset(project, name), labels) for name in ("old", "new"))
    run = make_trained_run(project=project, dataset_version=trained)
    register(create_model(project, None, "shapes"), run, "model/", None)
    expired_at = None if state == "kept" else timezone.now()
    Version.objects.filter(pk=trained.pk).update(state=state, expired_at=expired_at)
    body = {"model_version": "shapes@v1", "split": "train"}
    shown = look(api, f"{now.dataset.name}@v1", "evaluate-classifier", **body)
    checks = {one["code"]: one["params"] for one in shown["datasets"][0]["checks"]}
    if state == "kept":
        assert checks["seen_in_training"]["seen"] == len(SHAPES)
    else:
        assert checks["training_unread"]["versions"] == "old@v1"


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    call_command("sync_workflows")
    beat_local_node()
    project = make_project("vision")
    return Pusher(project, make_member(project, "researcher")).create()


def test_folder_names_become_labels_and_a_test_split_is_drawn(pusher: Pusher) -> None:
    files = class_files(3, 12)
    files["0/000.png"] = files["0/000.png"][:40]
    pusher.push(files)
    name, base = pusher.name, pusher.base
    blocked = look(pusher.client, f"{name}@v1")
    assert blocked["datasets"][0]["checks"][0]["remedies"][0] == "label_by_folder"
    asked = pusher.client.post(f"{base}folder-labels/", {"branch": "main"})
    assert asked.status_code == 202, asked.json()
    made = run_commit(asked.json()["id"])
    assert made.version is not None
    assert (made.version.number, made.version.provenance["labels_from"]) == (2, "folder")
    free = look(pusher.client, f"{name}@v2")
    found = {one["code"]: one for one in free["datasets"][0]["checks"]}
    assert free["ok"]
    assert free["datasets"][0]["labelled"] == 36
    # Half a file: its header can be read, its pixels cannot.
    assert found["some_unreadable"]["params"]["names"] == "0/000.png"
    assert found["no_test_split"]["remedies"] == ["make_test_split"]
    drawn = pusher.client.post(f"{base}splits/", {"test": "25%"})
    run_commit(drawn.json()["id"])
    assert look(pusher.client, f"{name}@v3")["datasets"][0]["splits"]["test"] == 9


@pytest.fixture
def atom(
    live_server: LiveServer,
    pusher: Pusher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Atom:
    """Run `atom …` as a researcher of the project; gives the exit code and what was printed."""
    environment = {
        "ATOM_URL": live_server.url,
        "ATOM_TOKEN": create_token(pusher.user, "tests", ["write"]).secret,
        "ATOM_PROJECT": pusher.project.slug,
        "ATOM_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "2000",
    }
    return runner(monkeypatch, capsys, environment)


@pytest.fixture
def unlabelled(pusher: Pusher, atom: Atom, tmp_path: Path) -> str:
    """The printed text of a push of class folders, without `--labels`."""
    for path, data in class_files(3, 12).items():
        file = tmp_path / "shapes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    code, out, err = atom("data", "push", str(tmp_path / "shapes"), "digits")
    assert code == 0, err
    return out + err


def test_the_command_line_says_the_same_and_starts_nothing(atom: Atom, unlabelled: str) -> None:
    assert "3 folders look like classes (0, 1, 2)" in unlabelled
    command = ("workflow", "run", "image-classification", "-p", "dataset=digits@v1")
    code, _, err = atom(*command)
    assert code == 1
    assert "digits@v1: 36 files, 0 labelled: this workflow needs labels." in err
    assert "atom data folder-labels digits@main" in err
    assert "--no-preflight" in err
    assert not Run.objects.exists()
    # Past the look, the server refuses the number: a run would build its environment here.
    wrong = ("-p", "epochs=0")
    assert "epochs" in atom(*command, *wrong, "--no-preflight")[2]
    assert atom("data", "folder-labels", "digits")[1] == "digits@v2 has these labels.\n"
    code, _, err = atom("workflow", "run", command[2], "-p", "dataset=digits@v2", *wrong)
    assert (code, "has no test split" in err) == (2, True)


def test_splits_that_do_not_fit_are_drawn_again_by_command(
    atom: Atom, unlabelled: str, pusher: Pusher
) -> None:
    assert unlabelled
    assert atom("data", "folder-labels", "digits")[0] == 0
    assert atom("data", "mark", "digits", "0", "1", "2", "--split", "val")[0] == 0
    command = ("workflow", "run", "image-classification", "-p", "dataset=digits@v3")
    code, _, err = atom(*command)
    assert code == 1
    assert "The split train of digits@v3 has no labelled file" in err
    assert "--redraw" in err
    assert atom(*command, "--redraw", "--no-preflight")[0] == 2
    # The server refuses the number after the look: a run would build its environment here.
    code, _, err = atom(*command, "--redraw", "-p", "epochs=0")
    assert "digits@v4 has new splits." in err
    assert "epochs" in err
    assert "nothing to train on" not in err
    splits = look(pusher.client, "digits@v4")["datasets"][0]["splits"]
    assert splits == {"test": 7, "train": 25, "val": 4}
    # Splits that fit are left alone.
    fits = (*command[:-1], "dataset=digits@v4", "--redraw", "-p", "epochs=0")
    assert "has new splits" not in atom(*fits)[2]
