"""The registry over HTTP."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from atom.accounts.models import Project, User
from atom.jobs import states as job_states
from atom.jobs.models import Artifact, CodeSnapshot, Run, RunInput, Runtime
from atom.models_registry import actions, tasks
from atom.models_registry.models import ModelVersion
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_run
from tests.factories.models_registry import EVALUATION, WEIGHTS, make_trained_run
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def researcher(project: Project, client: Client) -> User:
    user = make_member(project, "researcher")
    client.force_login(user)
    return user


@pytest.fixture
def run(project: Project) -> Run:
    """A run over a labeled version, taken in as `digits` version 1."""
    dataset = make_dataset(project, "cats")
    source = make_version(dataset, {"1.png": None})
    labeled = make_version(
        dataset,
        {"1.png": "cat"},
        provenance={
            "label_task": "0190c1f0-0000-7000-8000-000000000000",
            "label_task_name": "name the cats",
            "source_version": str(source.pk),
        },
    )
    parameters = {"register_model": "digits", "epochs": 3}
    made = make_trained_run(
        project=project, dataset_version=labeled, evaluation=EVALUATION, parameters=parameters
    )
    tasks.tick()
    return made


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    data = "" if body is None else json.dumps(body)
    return client.generic(method, path, data=data, content_type="application/json")


@pytest.mark.usefixtures("researcher")
@pytest.mark.parametrize(("is_on_main", "current"), [(True, "v3"), (False, None)])
def test_evaluation_opens_with_data_of_the_branch_that_was_trained_on(
    project: Project, run: Run, client: Client, is_on_main: bool, current: str | None
) -> None:
    read = RunInput.objects.get(run=run).version
    make_version(read.dataset, {"1.png": "cat", "2.png": "dog"})
    if not is_on_main:
        read.number = None
        read.save()
    shown = client.get(f"/api/v1/projects/{project.slug}/models/digits/versions/1/").json()
    assert shown["trained_on"]["current"] == (current or read.ref)


def test_files_that_are_still_being_checked_are_asked_for_again_under_the_same_key(
    project: Project, researcher: User, client: Client
) -> None:
    run = make_trained_run(project=project)
    send(client, "POST", f"/api/v1/projects/{project.slug}/models/", {"name": "digits"})

    def register() -> Any:
        return client.post(
            f"/api/v1/projects/{project.slug}/models/digits/versions/",
            {"run": str(run.pk)},
            content_type="application/json",
            headers={"Idempotency-Key": "register-once"},
        )

    files = Artifact.objects.filter(run=run, path="model/weights.pt")
    files.update(state=job_states.LOCAL)
    answer = register()
    # The SDK, the command line and the portal retry this by themselves.
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert answer.json()["code"] == "artifact_not_ready"
    files.update(state=job_states.PERSISTED)
    assert register().status_code == 201


def test_a_model_is_made_and_a_version_registered_from_a_run(
    project: Project, researcher: User, client: Client
) -> None:
    base = f"/api/v1/projects/{project.slug}/models/"
    run = make_trained_run(project=project)
    assert send(client, "POST", base, {"name": "mine"}).status_code == 201
    body = {"run": str(run.pk), "artifact_path": "model/", "description": "first"}
    made = send(client, "POST", f"{base}mine/versions/", body)
    assert made.status_code == 201
    assert (made.json()["number"], made.json()["run"]["id"]) == (1, str(run.pk))
    shown = send(client, "GET", f"{base}mine/").json()
    assert (shown["latest"]["number"], shown["versions_count"]) == (1, 1)
    again = send(client, "POST", base, {"name": "mine"})
    assert (again.status_code, again.json()["code"]) == (409, "model_name_taken")


def test_a_version_whose_files_tell_no_metrics_shows_those_of_its_run(
    project: Project, researcher: User, client: Client
) -> None:
    run = make_trained_run(project=project)
    version = actions.register(
        actions.create_model(project, researcher, "mine"), run, "model", researcher
    )
    ModelVersion.objects.filter(pk=version.pk).update(metrics={})
    Run.objects.filter(pk=run.pk).update(metrics_summary={"loss": 0.25})
    shown = send(client, "GET", f"/api/v1/projects/{project.slug}/models/mine/versions/1/")
    assert shown.json()["metrics"] == {"loss": 0.25}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"run": "00000000-0000-0000-0000-000000000000"}, "run"),
        ({"run": "not-an-id"}, "run"),
        ({}, "run"),
    ],
)
def test_a_wrong_registration_names_the_field(
    project: Project, researcher: User, client: Client, body: dict[str, Any], field: str
) -> None:
    actions.create_model(project, researcher, "mine")
    path = f"/api/v1/projects/{project.slug}/models/mine/versions/"
    answer = send(client, "POST", path, body)
    assert answer.status_code == 400
    assert field in answer.json()["errors"]


def test_a_run_of_another_project_cannot_be_registered(
    project: Project, researcher: User, client: Client
) -> None:
    actions.create_model(project, researcher, "mine")
    path = f"/api/v1/projects/{project.slug}/models/mine/versions/"
    body = {"run": str(make_trained_run().pk)}
    assert send(client, "POST", path, body).status_code == 400


def test_aliases_move_with_history(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    base = f"/api/v1/projects/{project.slug}/models/digits/aliases/"
    put = send(client, "PUT", f"{base}production/", {"version": 1})
    assert put.json() == {"name": "production", "version": 1}
    listed = send(client, "GET", base).json()["results"]
    assert [alias["name"] for alias in listed] == ["production"]
    assert send(client, "DELETE", f"{base}production/").status_code == 204
    history = send(client, "GET", f"{base}history/").json()["results"]
    steps = [(s["alias"], s["old_version"], s["new_version"]) for s in history]
    assert steps == [("production", 1, None), ("production", None, 1)]
    assert send(client, "PUT", f"{base}production/", {"version": 9}).status_code == 400
    assert send(client, "PUT", f"{base}Not%20good/", {"version": 1}).status_code == 400


def test_the_lineage_leads_from_labels_to_the_evaluation(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    path = f"/api/v1/projects/{project.slug}/models/digits/versions/1/lineage/"
    graph = send(client, "GET", path).json()
    title = {node["id"]: node["title"] for node in graph["nodes"]}
    edges = {(title[e["from"]], title[e["to"]]) for e in graph["edges"]}
    run_title = f"#{run.number} {run.name}"
    assert edges == {
        ("cats@v1", "name the cats"),
        ("name the cats", "cats@v2"),
        ("cats@v2", run_title),
        (run_title, "model"),
        ("model", "digits v1"),
        ("digits v1", "75.00% on test"),
        ("cats@v2", "75.00% on test"),
    }
    [run_node] = [node for node in graph["nodes"] if node["kind"] == "run"]
    assert "epochs 3" in run_node["subtitle"]
    [measured] = [node for node in graph["nodes"] if node["kind"] == "evaluation"]
    assert set(measured["facts"]) == {"accuracy", "split", "samples"}


def test_the_lineage_of_a_dataset_version_leads_to_the_models(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    path = f"/api/v1/projects/{project.slug}/datasets/cats/versions/v2/lineage/"
    kinds = [node["kind"] for node in send(client, "GET", path).json()["nodes"]]
    assert {"label_task", "dataset_version", "run", "model_version", "evaluation"} <= set(kinds)


def test_the_lineage_leads_through_the_run_that_wrote_the_version(
    project: Project, researcher: User, client: Client
) -> None:
    raw = make_version(make_dataset(project, "raw"), {"1.png": None})
    code = CodeSnapshot.objects.create(project=project, digest="c" * 64, size_bytes=1, key="c")
    runtime = Runtime.objects.create(digest="e" * 64, python="3.11")
    wrote = make_run(project, name="embed", code=code, runtime=runtime)
    RunInput.objects.create(run=wrote, alias="dataset", version=raw)
    features = make_dataset(project, "features")
    said = {"made_by": {"run": str(wrote.pk)}}
    written = make_version(features, {"1.npy": None}, provenance=said)
    trained = make_trained_run(
        project=project, dataset_version=written, parameters={"register_model": "digits"}
    )
    tasks.tick()

    def edges(path: str) -> set[tuple[str, str, str]]:
        graph = send(client, "GET", f"/api/v1/projects/{project.slug}/{path}").json()
        title = {node["id"]: node["title"] for node in graph["nodes"]}
        return {(title[e["from"]], title[e["to"]], e["label"]) for e in graph["edges"]}

    embed, train = f"#{wrote.number} embed", f"#{trained.number} {trained.name}"
    behind = {
        ("raw@v1", embed, "dataset"),
        ("Code", embed, "code"),
        ("Runtime", embed, "runtime"),
        (embed, "features@v1", "wrote"),
    }
    assert behind < edges("models/digits/versions/1/lineage/")
    of_dataset = edges("datasets/features/versions/v1/lineage/")
    assert behind | {("features@v1", train, "dataset")} <= of_dataset


@pytest.mark.parametrize("made_by", ["a run", {}, {"run": "x"}, {"run": 7}, "foreign"])
def test_a_maker_that_is_no_run_of_the_project_is_not_followed(
    project: Project, researcher: User, client: Client, made_by: Any
) -> None:
    if made_by == "foreign":
        made_by = {"run": str(make_run().pk)}
    make_version(
        make_dataset(project, "features"), {"1.npy": None}, provenance={"made_by": made_by}
    )
    path = f"/api/v1/projects/{project.slug}/datasets/features/versions/v1/lineage/"
    assert [node["kind"] for node in send(client, "GET", path).json()["nodes"]] == [
        "dataset_version"
    ]


def test_the_lineage_of_a_dataset_costs_the_same_for_many_runs_of_one_version(
    project: Project,
    researcher: User,
    client: Client,
    run: Run,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    path = f"/api/v1/projects/{project.slug}/datasets/cats/versions/v2/lineage/"
    before = count_queries(client, path, django_assert_max_num_queries)
    for _ in range(5):
        make_trained_run(project=project, dataset_version=run.inputs.get().version)
    assert count_queries(client, path, django_assert_max_num_queries) == before


def test_every_file_downloads_with_its_digest(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    path = f"/api/v1/projects/{project.slug}/models/digits/versions/1/download/"
    answer = send(client, "GET", path).json()
    files = {file["path"]: file for file in answer["files"]}
    got = httpx.get(files["weights.pt"]["url"])
    assert got.content == WEIGHTS
    assert answer["url"].endswith("/download/zip/")
    assert answer["size_bytes"] == sum(file["size_bytes"] for file in files.values())


def test_the_files_download_as_one_archive(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    path = f"/api/v1/projects/{project.slug}/models/digits/versions/1/download/zip/"
    answer = client.get(path)
    assert answer["Content-Type"] == "application/zip"
    assert 'filename="digits-v1.zip"' in answer["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(bytes_of(answer))) as archive:
        assert archive.testzip() is None
        assert archive.read("weights.pt") == WEIGHTS


def paths(project: Project) -> list[tuple[str, str]]:
    base = f"/api/v1/projects/{project.slug}/models/"
    version = f"{base}digits/versions/1/"
    reads = [base, f"{base}digits/", f"{base}digits/versions/", version, f"{base}digits/aliases/"]
    reads += [f"{base}digits/aliases/history/", f"{version}lineage/", f"{version}download/"]
    reads += [f"{version}download/zip/", f"{version}evaluations/"]
    reads += [f"/api/v1/projects/{project.slug}/datasets/cats/versions/v2/lineage/"]
    writes = [("POST", base), ("POST", f"{base}digits/versions/")]
    writes += [(method, f"{base}digits/aliases/x/") for method in ("PUT", "DELETE")]
    return [("GET", path) for path in reads] + writes


def test_strangers_find_nothing_and_nobody_gets_in(project: Project, run: Run) -> None:
    stranger = Client()
    stranger.force_login(make_member(make_project(), "admin"))
    for method, path in paths(project):
        assert send(stranger, method, path, {}).status_code == 404, path
        assert send(Client(), method, path, {}).status_code == 401, path


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("nope/", "model_not_found"),
        ("nope/versions/1/", "model_not_found"),
        ("digits/versions/9/", "model_version_not_found"),
    ],
)
@pytest.mark.usefixtures("researcher")
def test_what_is_missing_is_named(project: Project, client: Client, path: str, code: str) -> None:
    actions.create_model(project, None, "digits")
    answer = client.get(f"/api/v1/projects/{project.slug}/models/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_a_viewer_reads_and_changes_nothing(project: Project, run: Run, client: Client) -> None:
    client.force_login(make_member(project, "viewer"))
    for method, path in paths(project):
        if "zip" not in path:
            expected = 200 if method == "GET" else 403
            assert send(client, method, path, {}).status_code == expected, path


def test_lists_cost_the_same_queries_for_one_and_for_twenty_rows(
    project: Project,
    researcher: User,
    client: Client,
    run: Run,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    base = f"/api/v1/projects/{project.slug}/models/"
    listed = (base, f"{base}digits/versions/", f"/api/v1/projects/{project.slug}/overview/")
    before = [count_queries(client, path, django_assert_max_num_queries) for path in listed]
    version = run.inputs.get().version
    for index in range(19):
        for name in ("digits", f"model{index}"):
            make_trained_run(
                project=project,
                dataset_version=version,
                evaluation=EVALUATION,
                parameters={"register_model": name},
            )
    tasks.tick()
    after = [count_queries(client, path, django_assert_max_num_queries) for path in listed]
    assert before == after
    assert len(send(client, "GET", base).json()["results"]) == 20


def test_lists_come_without_the_matrices_that_the_evaluations_have(
    project: Project, researcher: User, client: Client, run: Run
) -> None:
    base = f"/api/v1/projects/{project.slug}/models/"
    one = send(client, "GET", f"{base}digits/versions/1/").json()
    assert one["evaluations"][0]["accuracy"] == 0.75
    (whole,) = send(client, "GET", f"{base}digits/versions/1/evaluations/").json()["results"]
    assert whole["confusion"] == {"labels": ["cat", "dog"], "matrix": [[2, 0], [1, 1]]}
    for path in (base, f"{base}digits/", f"{base}digits/versions/"):
        assert "matrix" not in client.get(path).content.decode()


def count_queries(client: Client, path: str, counter: DjangoAssertNumQueries) -> int:
    with counter(60) as queries:
        assert client.get(path).status_code == 200
    return len(queries)
