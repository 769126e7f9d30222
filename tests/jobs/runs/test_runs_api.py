"""Runs over HTTP: what is refused and how, who sees what, what a list costs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from blake3 import blake3
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import ensure_local_node
from atom.core import storage
from atom.datasets.models import VersionPin
from atom.jobs import events, states
from atom.jobs.event_kinds import EventKind
from atom.jobs.models import CodeSnapshot, Run, RunInput, Workflow
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.jobs.asking import create

pytestmark = pytest.mark.django_db


@pytest.fixture
def workflow() -> Workflow:
    parameters = [
        {"name": "dataset", "type": "dataset", "title": "Dataset", "required": True},
        {"name": "epochs", "type": "int", "title": "Epochs", "default": 2, "min": 1, "max": 100},
    ]
    full: dict[str, Any] = {
        "help": "",
        "default": None,
        "min": None,
        "max": None,
        "choices": [],
        "required": False,
    }
    return Workflow.objects.create(
        slug="train",
        version="1",
        title="Train",
        definition={
            "parameters": [{**full, **one} for one in parameters],
            "resources": {"cpus": 1, "memory_bytes": 256 << 20},
            "requirements": "",
            "command": ["python", "train.py"],
            "folder": "none",
            "code": [],
        },
    )


def test_a_run_of_a_command_is_queued(api: APIClient, project: Project) -> None:
    answer = create(api, command=["python", "-c", "print(1)"], name="one", tags=["try"])
    assert answer.status_code == 201, answer.json()
    run = answer.json()
    assert (run["number"], run["name"], run["state"]) == (1, "one", "queued")
    assert run["attempts"] == []
    assert run["runtime"]["state"] == "pending"
    (event,) = api.get(f"/api/v1/runs/{run['id']}/events/").json()["results"]
    assert event["kind"] == "created"


def test_a_workflow_gets_defaults_and_an_immutable_dataset(
    api: APIClient, project: Project, workflow: Workflow
) -> None:
    make_version(make_dataset(project, "digits"), {"a.png": "a"})
    answer = create(api, workflow="train", parameters={"dataset": "digits@main"})
    assert answer.status_code == 201, answer.json()
    run = answer.json()
    assert run["parameters"] == {"dataset": "digits@v1", "epochs": 2}
    assert run["datasets"] == [
        {
            "alias": "dataset",
            "dataset": "digits",
            "ref": "v1",
            "selector": {"split": ["train", "val"]},
            "view": "",
            "delivery": "packs",
            "mounted_by": "",
            "mount_skipped": [],
        }
    ]
    assert run["code"]["files_count"] == 0
    assert VersionPin.objects.get().holder_id == run["id"]


@pytest.mark.parametrize(
    ("body", "code", "fields"),
    [
        (
            {"workflow": "train", "parameters": {"dataset": "nope@v1", "epochs": "many", "x": 1}},
            "invalid_parameters",
            {"parameters.dataset", "parameters.epochs", "parameters.x"},
        ),
        ({"workflow": "train"}, "invalid_parameters", {"parameters.dataset"}),
        ({"workflow": "nothing"}, "invalid_run", {"workflow"}),
        ({}, "invalid_run", {"command"}),
        ({"command": ["x"], "datasets": {"d": "digits@v9"}}, "invalid_run", {"datasets.d"}),
        ({"command": ["x"], "env": {"ATOM_TOKEN": "1"}}, "invalid_run", {"env.ATOM_TOKEN"}),
        ({"command": ["x"], "resources": {"cpus": 0}}, "invalid", {"resources.cpus"}),
        ({"command": ["x"], "name": ""}, "invalid", {"name"}),
        ({"command": ["x"], "name": " \t"}, "invalid", {"name"}),
        ({"command": ["x"], "name": "a\nb"}, "invalid", {"name"}),
        ({"command": ["x"], "tags": ["a", "\x7f"]}, "invalid", {"tags.1"}),
        (
            {"command": ["x"], "resources": {"cpus": 4096}},
            "resources_never_fit",
            {"resources.cpus"},
        ),
    ],
)
def test_what_is_wrong_is_told_by_field(
    api: APIClient, workflow: Workflow, body: dict[str, Any], code: str, fields: set[str]
) -> None:
    answer = create(api, **body)
    assert answer.status_code == 400
    assert answer.json()["code"] == code
    assert set(answer.json()["errors"]) == fields
    assert not Run.objects.exists()


def test_a_preview_says_where_and_why_and_writes_nothing(
    api: APIClient, project: Project, workflow: Workflow
) -> None:
    make_version(make_dataset(project, "digits"), {"a.png": "a"})
    body = {"workflow": "train", "parameters": {"dataset": "digits@v1"}}
    answer = api.post("/api/v1/projects/vision/runs/preview/", body).json()
    assert answer["valid"]
    assert answer["outlook"] == "starts"
    assert answer["placement"]["node"] == ensure_local_node().name
    assert answer["placement"]["code"] == "only_machine"
    assert "only machine" in answer["placement"]["why"]
    assert answer["warm"] == {"bytes_missing": 5, "coverage": 0.0}
    assert answer["queue_position"] == 1
    wrong = api.post("/api/v1/projects/vision/runs/preview/", {"workflow": "train"}).json()
    assert not wrong["valid"]
    assert set(wrong["errors"]) == {"parameters.dataset"}
    assert wrong["warm"] is None
    assert "data" not in wrong["placement"]["why"]
    assert wrong["placement"]["params"]["coverage"] is None
    assert not Run.objects.exists()


def test_the_same_idempotency_key_creates_one_run(api: APIClient) -> None:
    path, headers = "/api/v1/projects/vision/runs/", {"Idempotency-Key": "k"}
    ids = {api.post(path, {"command": ["x"]}, headers=headers).json()["id"] for _ in range(2)}
    assert len(ids) == 1
    assert Run.objects.count() == 1


PATHS = [
    "", "cancel/", "retry/", "clone/", "explain/", "events/", "attempts/", "metrics/",
    "metrics/series/?key=a", "files/", "logs/", "logs/raw/",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_members_of_other_projects_and_nobody_get_nothing(path: str) -> None:
    run = make_attempt().run
    stranger = APIClient()
    stranger.force_authenticate(make_member(make_project(), "admin"))
    for method in (stranger.get, stranger.post):
        assert method(f"/api/v1/runs/{run.pk}/{path}").status_code in (404, 405)
    nobody = APIClient()
    assert nobody.get(f"/api/v1/runs/{run.pk}/{path}").status_code in (401, 405)


@pytest.mark.parametrize("action", ["cancel", "retry", "clone"])
def test_a_viewer_may_look_and_not_touch(action: str) -> None:
    run = make_run(state=states.FAILED)
    viewer = APIClient()
    viewer.force_authenticate(make_member(run.project, "viewer"))
    assert viewer.get(f"/api/v1/runs/{run.pk}/").status_code == 200
    assert viewer.post(f"/api/v1/runs/{run.pk}/{action}/").status_code == 403


def test_a_list_costs_the_same_for_one_and_for_twenty(api: APIClient, project: Project) -> None:
    version = make_version(make_dataset(project, "digits"), {"a.png": "a"})

    def queries_with(count: int) -> int:
        while Run.objects.count() < count:
            run = make_run(project, make_member(project))
            RunInput.objects.create(run=run, alias="d", version=version)
            make_attempt(run, failure_class="USER_CODE")
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = api.get("/api/v1/projects/vision/runs/")
        assert len(answer.json()["results"]) == count
        return len(captured)

    assert queries_with(1) == queries_with(20)


def test_lists_are_filtered_and_paged(api: APIClient, project: Project) -> None:
    for number in range(5):
        make_run(project, name=f"run-{number}", tags=["even"] if number % 2 == 0 else [])
    make_run(project, name="other", state=states.FAILED)
    make_run(name="foreign")
    path = "/api/v1/projects/vision/runs/"

    def names(**params: Any) -> list[str]:
        return [one["name"] for one in api.get(path, params).json()["results"]]

    assert names() == ["other", "run-4", "run-3", "run-2", "run-1", "run-0"]
    assert names(state="failed") == ["other"]
    assert names(tag="even") == ["run-4", "run-2", "run-0"]
    assert names(q="n-3") == ["run-3"]
    first = api.get(path, {"limit": 4}).json()
    assert names(limit=4, cursor=first["next"]) == ["run-1", "run-0"]
    assert api.get(path, {"state": "dreaming"}).status_code == 400


def test_a_waiting_run_is_cancelled_at_once_and_can_be_retried(
    api: APIClient, project: Project
) -> None:
    run = make_run(project)
    answer = api.post(f"/api/v1/runs/{run.pk}/cancel/").json()
    assert answer["state"] == "cancelled"
    again = api.post(f"/api/v1/runs/{run.pk}/cancel/")
    assert (again.status_code, again.json()["code"]) == (409, "not_cancellable")
    assert api.post(f"/api/v1/runs/{run.pk}/retry/").json()["state"] == "queued"
    refused = api.post(f"/api/v1/runs/{run.pk}/retry/")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_retryable")


def test_the_pause_before_a_retry_does_not_count_as_running(
    api: APIClient, project: Project
) -> None:
    started = timezone.now() - timedelta(hours=3)
    times = {"started_at": started, "finished_at": started + timedelta(seconds=20)}
    run = make_run(project, started_at=started)
    make_attempt(run, state=states.FAILED, **times)
    began = timezone.now() - timedelta(seconds=5)
    make_attempt(run, state=states.RUNNING, started_at=began)
    [listed] = api.get(f"/api/v1/projects/{project.slug}/runs/").json()["results"]
    shown = api.get(f"/api/v1/runs/{run.pk}/").json()
    assert 25 <= listed["duration_s"] <= shown["duration_s"] < 60
    waiting = make_run(project)
    assert api.get(f"/api/v1/runs/{waiting.pk}/").json()["duration_s"] is None


def test_a_clone_is_a_new_run_of_the_same_thing(api: APIClient, project: Project) -> None:
    run = make_run(project, env={"KEY": "hush-hush"}, tags=["t"], memory_bytes=64 << 20)
    answer = api.post(f"/api/v1/runs/{run.pk}/clone/")
    assert answer.status_code == 201, answer.json()
    clone = Run.objects.get(pk=answer.json()["id"])
    assert (clone.command, clone.env, clone.tags) == (run.command, run.env, run.tags)
    assert answer.json()["env"] == ["KEY"]
    assert "hush-hush" not in answer.content.decode()


def test_code_is_uploaded_once_and_checked(api: APIClient) -> None:
    data = b"a tar.gz, says the client"
    body = {"digest": blake3(data).hexdigest(), "size_bytes": len(data), "files_count": 1}
    path = "/api/v1/projects/vision/code-snapshots/"
    first = api.post(path, body).json()
    assert first["state"] == "upload"
    snapshot = CodeSnapshot.objects.get(pk=first["id"])
    complete = f"/api/v1/code-snapshots/{snapshot.pk}/complete/"
    assert api.post(complete).json()["code"] == "code_incomplete"
    storage.objects().put(snapshot.key, b"b tar.gz, says the client")
    assert api.post(complete).json()["code"] == "code_incomplete"
    refused = create(api, command=["x"], code_snapshot=str(snapshot.pk))
    assert set(refused.json()["errors"]) == {"code_snapshot"}
    storage.objects().put(snapshot.key, data)
    assert api.post(complete).json()["state"] == "present"
    assert api.post(path, body).json()["state"] == "present"
    assert create(api, command=["x"], code_snapshot=str(snapshot.pk)).status_code == 201


def test_the_same_files_at_another_commit_are_sent_once_and_show_their_own(
    api: APIClient,
) -> None:
    data = b"the same files"
    body = {"digest": blake3(data).hexdigest(), "size_bytes": len(data)}
    path = "/api/v1/projects/vision/code-snapshots/"
    gits = [{"commit": letter * 40, "branch": "main", "dirty": False} for letter in "ab"]
    # The second is announced while the first is on its way, the third when it has come.
    first, second = (api.post(path, {**body, "git": git}, format="json").json() for git in gits)
    assert [one["state"] for one in (first, second)] == ["upload", "upload"]
    storage.objects().put(CodeSnapshot.objects.get(pk=first["id"]).key, data)
    for one in (first, second):
        answer = api.post(f"/api/v1/code-snapshots/{one['id']}/complete/").json()
        assert answer == {**one, "state": "present", "put_url": None}
    third = api.post(path, {**body, "git": None}, format="json").json()
    assert third["state"] == "present"
    assert api.post(path, {**body, "git": gits[1]}, format="json").json()["id"] == second["id"]

    runs = [create(api, command=["x"], code_snapshot=one["id"]).json() for one in (first, second)]
    shown = [api.get(f"/api/v1/runs/{run['id']}/").json()["code"] for run in runs]
    assert [code["git"]["commit"] for code in shown] == [git["commit"] for git in gits]
    assert shown[0]["sha256"] == shown[1]["sha256"] != ""


def test_workflows_are_listed_with_their_parameters(api: APIClient, workflow: Workflow) -> None:
    listed = api.get("/api/v1/workflows/", {"project": "vision"}).json()["results"]
    assert "train" in [one["slug"] for one in listed]
    one = api.get("/api/v1/workflows/train/").json()
    assert [field["name"] for field in one["parameters"]] == ["dataset", "epochs"]
    assert api.get("/api/v1/workflows/nothing/").status_code == 404


def test_clusters_show_what_is_taken(api: APIClient, project: Project) -> None:
    (cluster,) = api.get("/api/v1/clusters/").json()["results"]
    assert cluster["name"] == "local"
    assert cluster["nodes"][0]["used"] == {"cpus": 0, "memory_bytes": 0, "gpus": 0}


# --- runners


def test_events_come_in_order(api: APIClient, project: Project) -> None:
    run = make_run(project)
    for number in range(5):
        events.record(run, EventKind.CHECKPOINT, f"number {number}")
    path = f"/api/v1/runs/{run.pk}/events/"
    page = api.get(path, {"limit": 3}).json()
    rest = api.get(path, {"limit": 3, "cursor": page["next"]}).json()
    texts = [one["text"] for one in page["results"] + rest["results"]]
    assert texts == [f"number {number}" for number in range(5)]


def test_a_clone_may_have_other_parameters(api: APIClient, project: Project) -> None:
    body = {"command": ["echo"], "parameters": {"lr": 0.1, "seed": 7}, "tags": ["a"]}
    run = create(api, **body).json()
    changes = {"parameters": {"lr": 0.2}, "resources": {"cpus": 2}, "name": "twice as fast"}
    made = api.post(f"/api/v1/runs/{run['id']}/clone/", changes)
    assert made.status_code == 201, made.json()
    clone = made.json()
    assert clone["parameters"] == {"lr": 0.2, "seed": 7}
    assert (clone["name"], clone["tags"], clone["command"]) == ("twice as fast", ["a"], ["echo"])
    assert clone["resources"] == {**run["resources"], "cpus": 2}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"paramters": {}}, "paramters"),
        ({"command": ["rm"]}, "command"),
        ({"name": 7}, "name"),
        ({"tags": "a"}, "tags"),
        ({"resources": {"cpus": 0}}, "resources.cpus"),
        ({"parameters": [1]}, "parameters"),
        ({"max_retries": 21}, "max_retries"),
    ],
)
def test_a_clone_refuses_what_it_does_not_know(
    api: APIClient, project: Project, body: dict[str, Any], field: str
) -> None:
    run = make_run(project)
    refused = api.post(f"/api/v1/runs/{run.pk}/clone/", body)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert Run.objects.count() == 1


def test_a_clone_of_a_workflow_checks_its_parameters(
    api: APIClient, project: Project, workflow: Workflow
) -> None:
    run = make_run(project, workflow=workflow, command=[], parameters={"epochs": 2})
    refused = api.post(f"/api/v1/runs/{run.pk}/clone/", {"parameters": {"epochs": 0}})
    assert refused.json()["code"] == "invalid_parameters"
    assert "parameters.epochs" in refused.json()["errors"]
