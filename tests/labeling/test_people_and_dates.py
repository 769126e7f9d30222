"""People, pre-labels, priority and due date of a task, and the lists that follow them."""

from __future__ import annotations

import pytest

from atom.accounts.models import Project
from atom.labeling import states
from atom.labeling.models import LabelTask, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.asking import Api, new_task
from tests.labeling.drawn import box, document, drawn_task
from tests.labeling.test_publishing_objects import draw, publish

pytestmark = pytest.mark.django_db


def test_counts_leave_out_tasks_of_other_people(project: Project) -> None:
    task = make_task(3, project=project)
    mine, other = (make_member(project, "labeler") for _ in range(2))
    task.assignees.set([mine])
    counts = []
    for person in (mine, other):
        api = Api(person)
        overview = api("GET", f"projects/{project.slug}/overview/").json()
        waiting = api("GET", f"labelx/tasks/{task.pk}/waiting/").json()["open"]
        todo = [need["count"] for need in overview["needs"] if need["code"] == "label"]
        counts.append((overview["labeling"]["open_items"], waiting, todo))
    assert counts == [(3, 3, [3]), (0, 0, [])]


def test_a_person_who_is_no_longer_assigned_finishes_what_they_hold(project: Project) -> None:
    task = make_task(3, project=project)
    leaving, staying = (make_member(project, "labeler") for _ in range(2))
    api, path = Api(leaving), f"labelx/tasks/{task.pk}/"
    [slot] = api("POST", f"{path}lease/?n=1", {}).json()["lease"]
    task.assignees.set([staying])
    assert "label" in api("GET", path).json()["offers"]
    body = {"lease_no": slot["lease_no"], "idempotency_key": "k", "document": {"label_id": 3}}
    assert api("POST", f"labelx/slots/{slot['id']}/submit/", body).status_code == 201
    assert "label" not in api("GET", path).json()["offers"]


def test_lists_come_by_urgency_or_by_due_date(project: Project, researcher: Api) -> None:
    plans = {"late": (0, "2026-03-01"), "soon": (0, "2026-02-01"), "urgent": (9, None)}
    for name, (priority, due) in {**plans, "plain": (0, None), "over": (99, "2026-01-01")}.items():
        task = make_task(1, project=project, name=name)
        LabelTask.objects.filter(pk=task.pk).update(priority=priority, due_on=due)
    LabelTask.objects.filter(name="over").update(state=states.PAUSED)
    LabelTask.objects.filter(name="over").update(state=states.COMPLETED)
    path = f"projects/{project.slug}/labelx/tasks/"

    def names(order: str) -> list[str]:
        listed, cursor = [], ""
        while True:
            page = researcher("GET", f"{path}?order={order}&limit=2{cursor}").json()
            listed += [task["name"] for task in page["results"]]
            if page["next"] is None:
                return listed
            cursor = f"&cursor={page['next']}"

    assert names("urgency") == ["urgent", "soon", "late", "plain", "over"]
    assert names("due") == ["soon", "late", "urgent", "plain", "over"]
    assert names("created") == ["over", "plain", "urgent", "soon", "late"]
    refused = researcher("GET", f"{path}?order=luck")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["order"])


def test_a_new_task_has_people_a_date_and_a_priority(project: Project, researcher: Api) -> None:
    labeler = make_member(project, "labeler", "lin")
    path = f"projects/{project.slug}/labelx/"
    more = {"assignees": ["lin"], "due_on": "2026-12-24", "priority": 3, "pre_label": False}
    made = researcher("POST", f"{path}tasks/", new_task(project, **more)).json()
    assert made["assignees"] == [{"username": "lin", "full_name": labeler.full_name}]
    assert (made["due_on"], made["priority"], made["pre_label"]) == ("2026-12-24", 3, False)


def test_people_who_may_label_are_suggested(project: Project, researcher: Api) -> None:
    make_member(project, "labeler", "lin")
    make_member(project, "viewer", "lina")
    path = f"projects/{project.slug}/labelx/labelers/"
    assert [one["username"] for one in researcher("GET", f"{path}?q=LIN").json()] == ["lin"]
    assert Api(make_member(make_task(1).project, "labeler"))("GET", path).status_code == 404


@pytest.mark.usefixtures("committing_db")
def test_a_task_starts_and_stops_to_begin_with_the_objects_of_its_version() -> None:
    first = drawn_task(1)
    draw(first, 1, box(1))
    version = publish(first).output_version
    assert version is not None, first
    task = drawn_task(
        project=first.project, version=version, name="again", labelled=None, pre_label=False
    )
    assert task.created_by is not None
    boss = Api(task.created_by)
    labeler = Api(make_member(task.project, "labeler"))
    path = f"labelx/tasks/{task.pk}/"
    [empty] = labeler("POST", f"{path}lease/", {}).json()["lease"]
    assert (empty["document"], empty["document_source"]) == (None, None)
    assert boss("PATCH", path, {"pre_label": True}).json()["pre_label"] is True
    [begun] = labeler("GET", f"{path}my-work/").json()["results"]
    assert (begun["document"], begun["document_source"]) == (document(box(1)), "pre_label")
    boss("PATCH", path, {"pre_label": False})
    body = {
        "lease_no": begun["lease_no"], "idempotency_key": "k", "document": document(box(1)),
    }  # fmt: skip
    assert labeler("POST", f"labelx/slots/{begun['id']}/submit/", body).status_code == 201
    slot = WorkSlot.objects.get(label_task=task, role=states.LABEL_ROLE)
    assert slot.revision is not None
    assert slot.revision.parent is None
