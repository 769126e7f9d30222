"""Ids over the versions of an ontology, and tasks that go on with a newer version."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project, User
from atom.labeling.actions import drafts, leases, ontologies
from atom.labeling.actions.ontologies import OntologyContent
from atom.labeling.actions.submissions import submit
from atom.labeling.engines.templates import TEMPLATES
from atom.labeling.errors import InvalidLabels
from atom.labeling.models import LabelTask, OntologyVersion
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.labeling import make_task, unlabelled
from tests.labeling.asking import Api
from tests.labeling.drawn import CAR, COLOUR, LABELS, PLATE, RED, box, document, drawing, drawn_task

pytestmark = pytest.mark.django_db


def make(project: Project, user: User, *labels: Any, **schema: Any) -> OntologyVersion:
    return ontologies.create_ontology(project, user, "cars", OntologyContent(labels, schema=schema))


def add(version: OntologyVersion, user: User, *labels: Any, **schema: Any) -> OntologyVersion:
    return ontologies.add_version(version.ontology, user, OntologyContent(labels, schema=schema))


@pytest.fixture
def boss(project: Project) -> User:
    return make_member(project, "researcher")


def test_names_keep_their_ids_and_new_ones_get_new_ids(project: Project, boss: User) -> None:
    colour = {"name": "colour", "choices": [{"name": "red"}, {"name": "blue"}]}
    first = make(project, boss, {"name": "car", "tools": ["box"], "attributes": [colour]},
                 {"name": "bike", "tools": ["box"]})  # fmt: skip
    more = {"name": "colour", "choices": [{"name": "green"}, {"name": "blue"}]}
    side = {"name": "side", "kind": "text"}
    second = add(first, boss, {"name": "van", "tools": ["box"]},
                 {"name": "car", "tools": ["box"], "attributes": [side, more]})  # fmt: skip
    assert {one["name"]: one["id"] for one in first.labels} == {"car": 0, "bike": 1}
    assert {one["name"]: one["id"] for one in second.labels} == {"car": 0, "van": 2}
    [before] = first.labels[0]["attributes"]
    side, after = second.labels[1]["attributes"]
    assert (after["id"], side["id"]) == (before["id"], before["id"] + 1)
    ids = {one["name"]: one["id"] for one in before["choices"] + after["choices"]}
    assert ids == {"red": 1, "blue": 2, "green": 3}


def test_an_id_never_changes_its_meaning(project: Project, boss: User) -> None:
    first = make(project, boss, {"name": "car"}, {"name": "bike"})
    with pytest.raises(InvalidLabels) as refused:
        add(first, boss, {"id": 1, "name": "car"}, {"id": 0, "name": "bike"})
    assert set(refused.value.errors) == {"labels.0.id", "labels.1.id"}
    # Another name for the same thing is no other meaning.
    renamed = add(first, boss, {"id": 0, "name": "automobile"}, {"name": "bike"})
    assert [one["id"] for one in renamed.labels] == [0, 1]
    # The id of a label that is gone is not free.
    gone = add(first, boss, {"name": "bike"})
    back = add(gone, boss, {"name": "bike"}, {"name": "tram"})
    assert [one["id"] for one in back.labels] == [1, 2]


def test_an_attribute_keeps_its_kind(project: Project, boss: User) -> None:
    first = make(
        project, boss, {"name": "car", "attributes": [{"id": 5, "name": "n", "kind": "text"}]}
    )
    with pytest.raises(InvalidLabels) as refused:
        add(first, boss, {"name": "car", "attributes": [{"id": 5, "name": "n", "kind": "number"}]})
    assert list(refused.value.errors) == ["attributes.5"]


@pytest.mark.parametrize("key", sorted(TEMPLATES))
def test_each_template_is_a_task_at_once(project: Project, boss: User, key: str) -> None:
    make_version(make_dataset(project, "digits"), unlabelled(2))
    body = {"name": key, "dataset": "digits@v1", "template": key}
    answer = Api(boss)("POST", f"projects/{project.slug}/labelx/tasks/", body)
    assert answer.status_code == 201, answer.json()
    made, template = answer.json(), TEMPLATES[key]
    assert (made["modality"], made["batch_size"]) == (template.modality, template.batch_size)
    assert [one["name"] for one in made["labels"]] == [one["name"] for one in template.labels]
    shown = Api(boss)("GET", "labelx/templates/").json()["results"]
    assert key in [one["key"] for one in shown]


def test_a_faulty_ontology_is_refused_with_the_place(project: Project, boss: User) -> None:
    parent = {"id": 1, "name": "car", "parent": 2}
    body = {"name": "o", "labels": [parent, {"id": 2, "name": "vehicle", "parent": 1}]}
    answer = Api(boss)("POST", f"projects/{project.slug}/labelx/ontologies/", body)
    assert answer.status_code == 400
    assert any(name.startswith("labels.") for name in answer.json()["errors"])
    # The next step fits each fault, not only names and hotkeys that come twice.
    assert "hotkey" not in answer.json()["action"]


def newer(task: LabelTask, *labels: dict[str, Any]) -> OntologyVersion:
    assert task.created_by is not None
    return add(task.ontology_version, task.created_by, *labels)


def move(task: LabelTask, version: OntologyVersion) -> Any:
    assert task.created_by is not None
    path = f"labelx/tasks/{task.pk}/ontology/"
    return Api(task.created_by)("POST", path, {"ontology_version": str(version.pk)})


def test_open_work_goes_on_under_the_newer_version() -> None:
    task = drawn_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    drafts.save_draft(slot, labeler, 1, document(box()))
    truck = {"name": "truck", "tools": ["box"]}
    version = newer(task, {**LABELS[0], "name": "vehicle"}, LABELS[1], truck)
    moved = move(task, version)
    assert (moved.status_code, moved.json()["ontology_number"]) == (200, 2)
    version.refresh_from_db()
    assert version.locked_at is not None
    number = version.labels[-1]["id"]
    [outcome] = submit(task.project, labeler, [drawing(slot, document(box(1, label=number)))])
    assert outcome.error is None
    assert outcome.revision is not None
    assert outcome.revision.ontology_version_id == version.pk


def test_a_label_that_work_uses_is_not_taken_away() -> None:
    task = drawn_task(3)
    labeler = make_member(task.project, "labeler")
    one, two, _ = leases.lease_labels(task, labeler, 3)
    submit(task.project, labeler, [drawing(one, document(box(1, attributes={str(COLOUR): RED})))])
    drafts.save_draft(two, labeler, 1, document(box()))
    refused = move(task, newer(task, LABELS[1]))
    assert (refused.status_code, refused.json()["code"]) == (409, "labels_in_use")
    used = {(row["kind"], row["name"]): row["items"] for row in refused.json()["used"]}
    assert used == {("label", "car"): 2, ("attribute", "colour"): 1, ("choice", "colour: red"): 1}
    # There is no plate in any drawing.
    assert move(task, newer(task, LABELS[0])).status_code == 200


def test_a_shape_that_work_has_is_not_taken_away() -> None:
    task = drawn_task(3)
    labeler = make_member(task.project, "labeler")
    one, two, _ = leases.lease_labels(task, labeler, 3)
    submit(task.project, labeler, [drawing(one, document(box()))])
    drafts.save_draft(two, labeler, 1, document(box()))
    refused = move(task, newer(task, {**LABELS[0], "tools": ["polygon"]}, LABELS[1]))
    assert (refused.status_code, refused.json()["code"]) == (409, "labels_in_use")
    used = {"kind": "tool", "id": CAR, "name": "car: box", "items": 2}
    assert refused.json()["used"] == [used]
    # No car is drawn as a polygon.
    assert move(task, newer(task, {**LABELS[0], "tools": ["box"]}, LABELS[1])).status_code == 200


REQUIRED = {"id": 9, "name": "seen", "kind": "text", "required": True}


@pytest.mark.parametrize(
    ("fields", "schema"),
    [
        ({"attributes": [*LABELS[0]["attributes"], REQUIRED]}, {}),
        ({"attributes": [{**LABELS[0]["attributes"][0], "required": True}]}, {}),
        ({}, {"attributes": [REQUIRED]}),
    ],
)
def test_an_answer_that_the_version_refuses_holds_it_back(
    fields: dict[str, Any], schema: dict[str, Any]
) -> None:
    task = drawn_task(2)
    labeler = make_member(task.project, "labeler")
    assert task.created_by is not None
    one, two = leases.lease_labels(task, labeler, 2)
    # A draft may lack an attribute until it is submitted.
    drafts.save_draft(two, labeler, 1, document(box()))
    submit(task.project, labeler, [drawing(one, document(box()))])
    labels = ({**LABELS[0], **fields}, LABELS[1])
    refused = move(task, add(task.ontology_version, task.created_by, *labels, **schema))
    assert (refused.status_code, refused.json()["code"]) == (409, "labels_in_use")
    assert refused.json()["refused"] == 1
    assert one.work_item.path in refused.json()["detail"]


def test_a_rule_that_every_answer_keeps_holds_nothing_back() -> None:
    task = drawn_task(2)
    labeler = make_member(task.project, "labeler")
    one, two = leases.lease_labels(task, labeler, 2)
    drafts.save_draft(two, labeler, 1, document(box()))
    submit(task.project, labeler, [drawing(one, document(box(1, attributes={str(COLOUR): RED})))])
    required = {**LABELS[0]["attributes"][0], "required": True}
    version = newer(task, {**LABELS[0], "attributes": [required]}, LABELS[1])
    assert move(task, version).status_code == 200


def test_a_deleted_label_is_refused_in_what_comes_later() -> None:
    task = drawn_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    assert move(task, newer(task, LABELS[0])).status_code == 200
    late = {"kind": "polygon", "parts": [[[1, 1, 9, 1, 9, 9]]], "id": "0" * 16, "label": PLATE}
    [outcome] = submit(task.project, labeler, [drawing(slot, document(late))])
    assert outcome.error is not None
    assert list(outcome.error.errors) == ["document/objects/0/label"]


def test_a_task_moves_forward_and_within_its_ontology() -> None:
    task = drawn_task(1)
    assert task.created_by is not None
    older = task.ontology_version
    assert move(task, newer(task, *LABELS)).status_code == 200
    assert move(task, older).json()["code"] == "ontology_not_newer"
    content = OntologyContent(LABELS)
    other = ontologies.create_ontology(task.project, task.created_by, "other", content)
    assert move(task, other).json()["code"] == "ontology_not_newer"
    stranger = drawn_task(1)
    assert move(task, stranger.ontology_version).status_code == 400


def test_a_grid_needs_a_class_to_choose() -> None:
    with pytest.raises(InvalidLabels):
        make_task(1, labels=LABELS)


def test_only_assigned_people_get_work_and_a_held_item_can_be_freed() -> None:
    task = drawn_task(2)
    assert task.created_by is not None
    first, second = (make_member(task.project, "labeler") for _ in range(2))
    boss = Api(task.created_by)
    path = f"labelx/tasks/{task.pk}/"
    body = {"assignees": [first.username], "due_on": "2026-12-24", "priority": 5}
    changed = boss("PATCH", path, body).json()
    assert [one["username"] for one in changed["assignees"]] == [first.username]
    assert (changed["due_on"], changed["priority"]) == ("2026-12-24", 5)
    assert "label" not in Api(second)("GET", path).json()["offers"]
    assert Api(second)("POST", f"{path}lease/", {}).json()["code"] == "not_assigned"
    [slot, _] = Api(first)("POST", f"{path}lease/", {}).json()["lease"]
    listed = boss("GET", f"{path}items/").json()["results"]
    [holder] = listed[0]["holders"]
    held = boss("GET", f"{path}items/?held=true").json()["results"]
    assert [one["path"] for one in held] == [one["path"] for one in listed]
    assert all(one["holders"][0]["until"] for one in held)
    assert (holder["username"], holder["slot"]) == (first.username, slot["id"])
    free = f"labelx/slots/{slot['id']}/free/"
    assert Api(second)("POST", free, {}).status_code == 403
    assert boss("POST", free, {}).status_code == 204
    assert boss("POST", free, {}).json()["code"] == "nothing_held"
    [rest] = boss("GET", f"{path}items/?held=true").json()["results"]
    assert rest["id"] != listed[0]["id"]
    late = {"lease_no": slot["lease_no"], "idempotency_key": "k", "document": document(box())}
    answer = Api(first)("POST", f"labelx/slots/{slot['id']}/submit/", late)
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_lease")
    unknown = boss("PATCH", path, {"assignees": ["nobody"]})
    assert (unknown.status_code, list(unknown.json()["errors"])) == (400, ["assignees"])


def test_a_choice_that_nobody_uses_may_go() -> None:
    task = drawn_task(2)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    submit(task.project, labeler, [drawing(slot, document(box(1, attributes={str(COLOUR): RED})))])
    colour = {**LABELS[0]["attributes"][0], "choices": [{"id": RED, "name": "red"}]}
    version = newer(task, {**LABELS[0], "id": CAR, "attributes": [colour]}, LABELS[1])
    assert move(task, version).status_code == 200
