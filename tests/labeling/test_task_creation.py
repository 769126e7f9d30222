"""Making a task over the API: what it chooses, and what is refused."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.datasets.models import SavedView
from atom.labeling.actions.items import add_items
from atom.labeling.actions.label_tasks import fill_task
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.models import LabelTask, OntologyVersion, WorkItem
from tests.factories.datasets import make_dataset, make_version
from tests.factories.labeling import unlabelled
from tests.labeling.asking import Api, new_task

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dataset": "nothing@v1"}, "dataset"),
        ({"dataset": "digits@v9"}, "dataset"),
        ({"labels": []}, "labels"),
        ({"labels": [{"name": "a"}, {"name": "a"}]}, "labels"),
        ({"labels": [{"name": "a", "hotkey": "x"}, {"name": "b", "hotkey": "x"}]}, "labels"),
        ({"filter": {"prefix": "nowhere/"}}, "filter"),
        ({"audit_percent": 101}, "audit_percent"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": "many"}, "batch_size"),
        ({"ontology_version": "0" * 32}, "labels"),
        ({"name": ""}, "name"),
        ({"name": "a\u202eb"}, "name"),
    ],
)
def test_a_wrong_task_names_the_field_and_makes_nothing(
    project: Project, researcher: Api, changes: dict[str, Any], field: str
) -> None:
    body = new_task(project, **changes)
    answer = researcher("POST", f"projects/{project.slug}/labelx/tasks/", body)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert field in answer.json()["errors"]
    assert not LabelTask.objects.exists()
    assert not OntologyVersion.objects.exists()


def test_a_name_is_taken_once_per_project(project: Project, researcher: Api) -> None:
    body = new_task(project)
    path = f"projects/{project.slug}/labelx/tasks/"
    assert researcher("POST", path, body).status_code == 201
    again = researcher("POST", path, body)
    assert (again.status_code, again.json()["code"]) == (409, "task_name_taken")


def test_the_filter_chooses_by_prefix_and_by_label(project: Project, researcher: Api) -> None:
    dataset = make_dataset(project, "mixed")
    files = {"a/1.png": None, "a/2.png": "x", "b/1.png": None, "b/2.png": "y"}
    make_version(dataset, files)
    totals = {}
    for prefix, labelled in (("", False), ("", True), ("", None), ("b/", False), ("b/", None)):
        body = {
            "name": f"{prefix}{labelled}",
            "dataset": "mixed@main",
            "labels": [{"name": "x"}],
            "filter": {"prefix": prefix, "labelled": labelled},
        }
        made = researcher("POST", f"projects/{project.slug}/labelx/tasks/", body)
        totals[prefix, labelled] = made.json()["progress"]["total"]
    assert totals == {
        ("", False): 2, ("", True): 2, ("", None): 4, ("b/", False): 1, ("b/", None): 2
    }  # fmt: skip


MIXED = {
    **unlabelled(3),
    "1/a.png": "1",
    "unlabelled/.hidden": None,
    "unlabelled/page.html": None,
    "unlabelled/drawing.svg": None,
    "unlabelled/notes.txt": None,
    "unlabelled/torn.png": None,
    "text/only.txt": None,
}


TORN = {"unlabelled/torn.png": '{"unreadable":"the file is empty"}'}


@pytest.fixture
def mixed(project: Project) -> str:
    """A version in which images are among other files."""
    return f"mixed@{make_version(make_dataset(project, 'mixed'), MIXED, TORN).ref}"


def test_only_what_can_be_shown_as_an_image_is_handed_out(
    project: Project, researcher: Api, mixed: str
) -> None:
    body = new_task(project, dataset=mixed)
    made = researcher("POST", f"projects/{project.slug}/labelx/tasks/", body)
    assert made.status_code == 201
    task = LabelTask.objects.get(pk=made.json()["id"])
    assert set(task.items.values_list("path", flat=True)) == set(unlabelled(3))
    assert made.json()["left_out"] == {"not_images": 5, "unreadable": 1}
    again = researcher("GET", f"labelx/tasks/{task.pk}/").json()
    assert again["left_out"] == {"not_images": 5, "unreadable": 1}


def test_a_task_without_any_image_is_refused_and_says_why(
    project: Project, researcher: Api, mixed: str
) -> None:
    body = new_task(project, dataset=mixed, filter={"prefix": "text/", "labelled": False})
    refused = researcher("POST", f"projects/{project.slug}/labelx/tasks/", body)
    assert (refused.status_code, refused.json()["code"]) == (400, "no_images")
    assert refused.json()["not_images"] == 1
    assert refused.json()["error_codes"]["filter"] == [
        {"code": "labeling.no_images", "params": {"not_images": 1, "unreadable": 0}}
    ]
    assert not LabelTask.objects.exists()


@pytest.mark.parametrize(
    ("query", "items", "left_out"),
    [
        ("", 3, {"not_images": 5, "unreadable": 1}),
        ("&labelled=any", 4, {"not_images": 5, "unreadable": 1}),
        ("&labelled=true", 1, {"not_images": 0, "unreadable": 0}),
        ("&prefix=text/", 0, {"not_images": 1, "unreadable": 0}),
    ],
)
def test_a_preview_counts_what_a_task_would_hand_out(
    project: Project, researcher: Api, mixed: str, query: str, items: int, left_out: dict[str, int]
) -> None:
    asked = f"projects/{project.slug}/labelx/task-preview/?dataset={mixed}{query}"
    preview = researcher("GET", asked)
    assert preview.status_code == 200
    assert preview.json() == {"items": items, "left_out": left_out}


def test_a_preview_of_a_dataset_that_is_not_there_is_refused(
    project: Project, researcher: Api
) -> None:
    asked = f"projects/{project.slug}/labelx/task-preview/?dataset=nothing@v1"
    assert researcher("GET", asked).status_code == 400


def asked_by_question(project: Project, **chosen: Any) -> dict[str, Any]:
    return {
        "name": "question",
        "dataset": "mixed@main",
        "labels": [{"name": "x"}],
        "filter": {"labelled": None, **chosen},
    }


def paths_of(task_id: str) -> list[str]:
    items = WorkItem.objects.filter(label_task__pk=task_id).order_by("position")
    return list(items.values_list("path", flat=True))


FILES = {"a/1.png": None, "a/2.png": "x", "b/1.png": "x", "b/2.png": "y", "b/notes.txt": "x"}


def test_a_question_and_a_view_choose_the_files(project: Project, researcher: Api) -> None:
    dataset = make_dataset(project, "mixed")
    make_version(dataset, FILES)
    SavedView.objects.create(dataset=dataset, name="below-b", prefix="b/")
    base = f"projects/{project.slug}/labelx/"
    question = {"where": "label = 'x'"}

    asked = "dataset=mixed@main&labelled=any&where=label='x'"
    preview = researcher("GET", f"{base}task-preview/?{asked}")
    assert preview.json() == {"items": 2, "left_out": {"not_images": 1, "unreadable": 0}}
    made = researcher("POST", f"{base}tasks/", asked_by_question(project, **question)).json()
    assert paths_of(made["id"]) == ["a/2.png", "b/1.png"]
    assert (made["filter"]["where"], made["filling"]) == ("label = 'x'", None)
    body = asked_by_question(project, **question, view="below-b") | {"name": "narrower"}
    narrower = researcher("POST", f"{base}tasks/", body).json()
    assert paths_of(narrower["id"]) == ["b/1.png"]


@pytest.mark.parametrize(
    ("chosen", "status", "code"),
    [
        ({"where": "label ="}, 400, "query_invalid"),
        ({"where": "label = 'nobody'"}, 400, "no_items"),
        ({"where": 7 * ["x"]}, 400, "invalid"),
        ({"view": "nothing"}, 404, "view_not_found"),
        ({"where": "x" * 5000}, 400, "invalid"),
    ],
)
def test_a_wrong_question_makes_no_task(
    project: Project, researcher: Api, chosen: dict[str, Any], status: int, code: str
) -> None:
    make_version(make_dataset(project, "mixed"), FILES)
    path = f"projects/{project.slug}/labelx/tasks/"
    answer = researcher("POST", path, asked_by_question(project, **chosen))
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not LabelTask.objects.exists()


def test_a_worker_fills_a_large_task_and_goes_on_where_it_was_cut_off(
    project: Project, researcher: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atom.labeling.actions.label_tasks.FILLED_AT_ONCE", 2)
    monkeypatch.setattr("atom.labeling.actions.items._BATCH", 1)
    make_version(make_dataset(project, "mixed"), FILES)
    path = f"projects/{project.slug}/labelx/tasks/"
    # The test's transaction never commits: no worker has been told.
    made = researcher("POST", path, asked_by_question(project, where="label IS NOT NULL")).json()
    assert made["filling"] == {"done": 0, "total": 3}
    assert made["left_out"] == {"not_images": 1, "unreadable": 0}
    task = f"labelx/tasks/{made['id']}/"
    researcher("POST", f"{task}start/")
    refused = researcher("POST", f"{task}publish/", {"partial": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "task_filling")

    row = LabelTask.objects.get()
    chosen = ImageSelection(row.dataset_version, labelled=True)
    add_items(row, islice(chosen.samples(), 1))
    LabelTask.objects.update(populated_at=None)
    assert researcher("GET", task).json()["filling"] == {"done": 1, "total": 3}
    for _ in range(2):
        fill_task(row.pk)
    assert paths_of(made["id"]) == ["a/2.png", "b/1.png", "b/2.png"]
    assert researcher("GET", task).json()["filling"] is None


def test_a_task_has_a_largest_size(
    project: Project, researcher: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atom.labeling.actions.label_tasks.FILLED_AT_ONCE", 1)
    monkeypatch.setattr("atom.labeling.actions.label_tasks.MAX_ITEMS", 2)
    make_version(make_dataset(project, "mixed"), FILES)
    path = f"projects/{project.slug}/labelx/tasks/"
    answer = researcher("POST", path, asked_by_question(project))
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_items")
    assert not LabelTask.objects.exists()
