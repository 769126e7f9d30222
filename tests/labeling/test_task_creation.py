"""Making a task over the API: what it chooses, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from atom.labeling.models import LabelTask, OntologyVersion
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
    assert "1 are no images" in refused.json()["errors"]["filter"][0]
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
