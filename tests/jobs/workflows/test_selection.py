"""The data that a job sees: a training never sees the test split, nor its labels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from rest_framework.test import APIClient

from atom.cache.warming.actions.warming import request_warm
from atom.clusters.actions import ensure_local_node, reserve
from atom.datasets.models import Dataset, SavedView
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import launch
from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.executors import local_executor
from atom.jobs.executors.local.datasets import show_datasets
from atom.jobs.models import Attempt, Run, RunInput, Workflow
from atom.jobs.runs.actions.plan import plan_run
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.workflows.engines.parameters import Parameter
from atom.jobs.workflows.engines.selection import check_inputs, selector_of
from atom_sdk.readers import LocalDataset
from tests.datasets.pushing import Pusher, class_files
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

TEST_IMAGES = 3
PARAMETERS = [
    Parameter("dataset", "dataset", "Dataset"),
    Parameter("split", "string", "Split"),
    Parameter("epochs", "int", "Epochs"),
]


def test_an_input_shows_fixed_splits_the_one_a_parameter_names_or_everything() -> None:
    assert selector_of({"split": ["train", "val"]}, {}) == {"split": ["train", "val"]}
    named = {"split": {"parameter": "split"}}
    assert selector_of(named, {"split": "test"}) == {"split": ["test"]}
    assert selector_of(named, {"split": None}) == {"split": [""]}
    assert selector_of({}, {}) == {}


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"dataset": {}, "other": {}},
        {"dataset": {"splits": ["train"]}},
        {"dataset": {"split": "train"}},
        {"dataset": {"split": {"parameter": "epochs"}}},
        {"dataset": {"split": {"name": "split"}}},
    ],
)
def test_inputs_that_do_not_fit_the_parameters_are_refused(inputs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="inputs"):
        check_inputs(inputs, PARAMETERS)


@pytest.fixture
def pusher(committing_db: None) -> Iterator[Pusher]:
    """`digits@v1`: three classes of four images, three images of them for tests."""
    call_command("sync_workflows")
    project = make_project()
    client = Pusher(project, make_member(project, "researcher")).create()
    split = {"test": TEST_IMAGES, "val": 2, "seed": 7, "stratify": True}
    client.push(class_files(), labels_from="folder", split=split)
    yield client
    shutil.rmtree(Path(settings.ATOM_HOME) / "cache", ignore_errors=True)


def view_of(pusher: Pusher, **request: Any) -> LocalDataset:
    """Open what the job of such a run is told to read, once its data is on the machine."""
    attempt = warm_attempt(pusher, **request)
    show_datasets(attempt, None)
    (described,) = job_of(attempt)["datasets"]
    return LocalDataset(described["index_path"], described["pack_dir"])


def warm_attempt(pusher: Pusher, **request: Any) -> Attempt:
    """Plan a run as the API does, without an environment to build, and bring its data here."""
    plan = plan_run(pusher.project, pusher.user, RunRequest(**request))
    plan.raise_errors()
    attempt = make_attempt(make_run(pusher.project), states.SUBMITTED)
    for alias, version in plan.inputs.items():
        selector = plan.selectors.get(alias, {})
        RunInput.objects.create(run=attempt.run, alias=alias, version=version, selector=selector)
        request_warm(version, ensure_local_node(), selector)
    return attempt


def test_a_training_job_gets_neither_rows_nor_labels_of_the_test_split(pusher: Pusher) -> None:
    whole = view_of(pusher, command=["true"], datasets={"d": "digits@v1"})
    hidden = [one.path for one in whole if one.split == "test"]
    assert len(hidden) == TEST_IMAGES
    assert {one.label for one in whole if one.split == "test"} != {None}

    view = view_of(pusher, workflow="image-classification", parameters={"dataset": "digits@v1"})

    assert {one.split for one in view} == {"train", "val"}
    assert len(view) == len(whole) - TEST_IMAGES
    everything = view.index.path.read_bytes()
    assert not [path for path in hidden if path.encode() in everything]
    assert b"test" not in everything


def test_an_evaluation_gets_the_split_that_its_parameter_names(pusher: Pusher) -> None:
    evaluate = Workflow.objects.get(slug="evaluate-classifier").definition
    for split in ("test", "val"):
        selector = selector_of(evaluate["inputs"]["dataset"], {"split": split})
        view = view_of(
            pusher,
            command=["true"],
            datasets={"dataset": "digits@v1"},
            selectors={"dataset": selector},
        )
        assert {one.split for one in view} == {split}


def test_a_dataset_without_splits_is_all_for_training(pusher: Pusher) -> None:
    plain = Pusher(pusher.project, pusher.user, "plain").create()
    plain.push(class_files(), labels_from="folder")
    view = view_of(plain, workflow="image-classification", parameters={"dataset": "plain@v1"})
    assert len(view) == len(class_files())


def test_a_split_without_samples_ends_the_run_in_words(pusher: Pusher) -> None:
    attempt = warm_attempt(
        pusher,
        command=["true"],
        datasets={"d": "digits@v1"},
        selectors={"d": {"split": ["tset"]}},
    )
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    launch.launch(attempt.pk)
    reconcile.advance(attempt.run_id)
    run = Run.objects.get(pk=attempt.run_id)
    assert (run.state, run.failure_class) == (states.FAILED, "BAD_DATA")
    assert run.failure_reason == "No files in the split tset of digits@v1."
    assert run.suggestion
    assert not local_executor().observe(attempt).launched


def test_a_run_sees_only_what_its_query_matches(pusher: Pusher) -> None:
    view = view_of(
        pusher,
        command=["true"],
        datasets={"d": "digits@v1"},
        selectors={"d": {"where": "label = '1' AND NOT split = 'test'"}},
    )
    assert len(view)
    assert {one.label for one in view} == {"1"}
    assert "test" not in {one.split for one in view}


@pytest.mark.django_db
class TestThroughTheApi:
    """The API, on a version that has no bytes."""

    @pytest.fixture
    def api(self) -> APIClient:
        call_command("sync_workflows")
        project = make_project("vision")
        make_version(make_dataset(project, "digits"), {"a.png": "a"})
        client = APIClient()
        client.force_authenticate(make_member(project, "researcher"))
        return client

    def post(self, api: APIClient, **body: Any) -> Any:
        return api.post("/api/v1/projects/vision/runs/", body)

    def test_a_plain_command_sees_the_whole_version_or_what_it_selects(
        self, api: APIClient
    ) -> None:
        body = {"command": ["x"], "datasets": {"d": "digits@v1"}}
        assert self.post(api, **body).json()["datasets"][0]["selector"] == {}
        chosen = {"d": {"split": ["train"], "labelled": True, "where": "label = '1'"}}
        run = self.post(api, **body, selectors=chosen).json()
        assert run["datasets"][0]["selector"] == chosen["d"]
        clone = api.post(f"/api/v1/runs/{run['id']}/clone/").json()
        assert clone["datasets"][0]["selector"] == chosen["d"]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"command": ["x"], "selectors": {"d": {"split": ["train"]}}}, "selectors.d"),
            ({"command": ["x"], "datasets": {"..": "digits@v1"}}, "datasets..."),
            (
                {
                    "command": ["x"],
                    "datasets": {"d": "digits@v1"},
                    "selectors": {"d": {"where": "label ="}},
                },
                "selectors.d.where",
            ),
        ],
    )
    def test_what_a_run_does_not_have_cannot_be_selected(
        self, api: APIClient, body: dict[str, Any], field: str
    ) -> None:
        answer = self.post(api, **body)
        assert (answer.status_code, set(answer.json()["errors"])) == (400, {field})

    @pytest.mark.parametrize(
        "added",
        [
            {"datasets": {"more": "digits@v1"}},
            {"datasets": {"dataset": "digits@v1"}},
            {"selectors": {"dataset": {"split": ["test"]}}},
        ],
    )
    def test_nobody_adds_the_test_split_to_a_training(
        self, api: APIClient, added: dict[str, Any]
    ) -> None:
        parameters = {"dataset": "digits@v1"}
        answer = self.post(api, workflow="image-classification", parameters=parameters, **added)
        assert answer.status_code == 400
        assert not Run.objects.exists()

    def test_a_view_goes_into_a_run_as_its_text(self, api: APIClient) -> None:
        dataset = Dataset.objects.get(name="digits")
        SavedView.objects.create(dataset=dataset, name="ones", where="label = '1'")
        body = {"command": ["x"], "datasets": {"d": "digits@v1?view=ones"}}
        run = self.post(api, **body).json()
        (read,) = run["datasets"]
        assert (read["view"], read["selector"]) == ("ones", {"where": "label = '1'"})
        both = {"d": {"where": "size > 1", "view": "ones", "split": ["val"]}}
        (read,) = self.post(api, **body, selectors=both).json()["datasets"]
        text = "label = '1' AND size > 1"
        assert read["selector"] == {"split": ["val"], "where": text}
        trained = self.post(
            api, workflow="image-classification", parameters={"dataset": "digits@v1?view=ones"}
        ).json()
        seen = {"split": ["train", "val"], "where": "label = '1'"}
        assert trained["datasets"][0]["selector"] == seen
        assert trained["parameters"]["dataset"] == "digits@v1"

        # A run keeps the text of its query: the view may be another, or gone.
        SavedView.objects.all().delete()
        for made, selector in ((run, {"where": "label = '1'"}), (trained, seen)):
            (again,) = api.post(f"/api/v1/runs/{made['id']}/clone/").json()["datasets"]
            assert (again["view"], again["selector"]) == ("", selector)
        assert self.post(api, **body).json()["errors"] == {
            "datasets.d": ["digits has no view ones."]
        }

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"parameters": {"dataset": "digits@v1?view=ones"}}, "parameters.dataset"),
            ({"selectors": {"dataset": {"where": "size > 1"}}}, "parameters.dataset"),
            ({"selectors": {"dataset": {"split": ["train"]}}}, "selectors.dataset"),
        ],
    )
    def test_nobody_chooses_what_a_model_is_measured_on(
        self, api: APIClient, body: dict[str, Any], field: str
    ) -> None:
        dataset = Dataset.objects.get(name="digits")
        SavedView.objects.create(dataset=dataset, name="ones", where="label = '1'")
        parameters = {"dataset": "digits@v1", **body.get("parameters", {})}
        request = {"workflow": "evaluate-classifier", **body, "parameters": parameters}
        answer = self.post(api, **request)
        assert answer.status_code == 400
        assert field in answer.json()["errors"]
        assert not Run.objects.exists()

    def test_a_workflow_says_what_it_will_see(self, api: APIClient) -> None:
        found = api.get("/api/v1/workflows/evaluate-classifier/").json()
        assert found["inputs"] == {"dataset": {"split": {"parameter": "split"}}}
        found = api.get("/api/v1/workflows/image-classification/").json()
        assert found["inputs"] == {"dataset": {"split": ["train", "val"], "narrowable": True}}
