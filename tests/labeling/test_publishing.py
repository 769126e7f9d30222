"""Accepted labels become the next version of the dataset, once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from atom.core.storage import project_store
from atom.datasets.commits.actions.layers import publish_layer
from atom.datasets.models import Version, VersionPin
from atom.labeling import states, tasks
from atom.labeling.actions import leases, publishing
from atom.labeling.actions.audits import Ruling
from atom.labeling.actions.continuing import continue_task
from atom.labeling.errors import NothingToPublish, UnfinishedItems
from atom.labeling.models import LabelTask, WorkItem
from atom_sdk.manifests import read_layer, read_root
from tests.datasets.pushing import png
from tests.factories.accounts import make_member
from tests.factories.datasets import make_version
from tests.factories.labeling import make_task, unlabelled
from tests.labeling.asking import Api
from tests.labeling.work import rule, submit_all

pytestmark = pytest.mark.usefixtures("committing_db")


def label_some(task: LabelTask, n: int, label_id: int = 3) -> None:
    labeler = make_member(task.project, "labeler")
    submit_all(leases.lease_labels(task, labeler, n), labeler, label_id)


def request(task: LabelTask, *, partial: bool = False) -> LabelTask:
    assert task.created_by is not None
    publishing.request_publish(task, task.created_by, partial=partial)
    return LabelTask.objects.select_related("output_version").get(pk=task.pk)


def labels_of(version: Version) -> pa.Table:
    store = project_store(version.dataset.project)
    layer = read_root(bytes.fromhex(version.root), store).layer("labels")
    assert layer is not None
    return read_layer(layer, store)


def test_a_finished_task_becomes_the_next_version_with_its_labels() -> None:
    task = make_task(3)
    label_some(task, 3)
    task = request(task)
    assert task.state == states.PUBLISHED
    version = task.output_version
    assert version is not None
    assert version.number == 2
    rows = labels_of(version).to_pylist()
    assert [row["path"] for row in rows] == sorted(unlabelled(3))
    assert {row["label"] for row in rows} == {"3"}
    assert {row["source"] for row in rows} == {"human"}
    assert {row["audit_state"] for row in rows} == {"not_sampled"}
    assert set(WorkItem.objects.values_list("state", flat=True)) == {states.PUBLISHED}


def test_the_layer_tells_what_was_audited_and_hides_who_labeled() -> None:
    task = make_task(1, audit_percent=100)
    labeler, auditor = (make_member(task.project, "labeler") for _ in range(2))
    submit_all(leases.lease_labels(task, labeler, 1), labeler)
    rule(leases.lease_audits(task, auditor, 1)[0], auditor, states.ACCEPT)
    [row] = labels_of(request(task).output_version).to_pylist()  # type: ignore[arg-type]
    assert row["audit_state"] == "accepted"
    assert row["annotator"].startswith("labeler-")
    assert labeler.username not in row["annotator"]


def test_the_version_says_which_task_it_came_from() -> None:
    task = make_task(1)
    label_some(task, 1)
    version = request(task).output_version
    assert version is not None
    assert version.provenance["label_task"] == str(task.pk)
    assert version.provenance["source_version"] == str(task.dataset_version_id)


def test_unfinished_items_are_counted_and_refuse_publishing() -> None:
    task = make_task(3)
    label_some(task, 1)
    with pytest.raises(UnfinishedItems) as refused:
        request(task)
    assert refused.value.extra["unfinished"] == 2
    assert LabelTask.objects.get().state == states.ACTIVE


def test_accepted_work_on_replaced_pictures_is_counted_and_goes_on_in_a_new_task() -> None:
    task = make_task(4)
    label_some(task, 4)
    kept, *changed = sorted(unlabelled(4))
    contents = {path: png(number) for number, path in enumerate(changed[:2])}
    # Two pictures get other bytes, and the last one is removed.
    make_version(task.dataset, dict.fromkeys([kept, *contents], None), contents=contents)
    published = request(task)
    version = published.output_version
    assert version is not None
    assert [row["path"] for row in labels_of(version).to_pylist()] == [kept]
    assert (version.provenance["pictures"], version.provenance["replaced"]) == (1, 3)
    shown = Api(task.created_by)("GET", f"labelx/tasks/{task.pk}/").json()
    assert (shown["progress"]["accepted"], shown["progress"]["left_out"]) == (1, 3)
    assert shown["left_out_from"]["replaced"] == 3
    left_out = Api(task.created_by)("GET", f"labelx/tasks/{task.pk}/items/?state=left_out").json()
    assert [item["path"] for item in left_out["results"]] == changed
    named = Api(task.created_by)("GET", f"labelx/tasks/{task.pk}/items/?replaced=true").json()
    assert [item["path"] for item in named["results"]] == changed
    assert "continue" in shown["offers"]
    assert task.created_by is not None
    more = continue_task(published, task.created_by)
    assert sorted(more.items.values_list("path", flat=True)) == changed[:2]


def test_work_whose_pictures_are_all_replaced_can_be_done_again() -> None:
    task = make_task(1)
    label_some(task, 1)
    [path] = unlabelled(1)
    make_version(task.dataset, {path: None}, contents={path: png(1)})
    published = request(task)
    assert published.state == states.PUBLISHED
    assert list(task.items.values_list("state", "left_out_from")) == [("left_out", "accepted")]
    assert task.created_by is not None
    assert continue_task(published, task.created_by).items.count() == 1


def test_a_picture_that_was_replaced_on_the_branch_is_submitted_as_the_task_has_it() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    [path] = unlabelled(1)
    make_version(task.dataset, {path: None}, contents={path: png(1)})
    body = {"lease_no": slot.lease_no, "idempotency_key": "k", "label_id": 3}
    submit = f"labelx/slots/{slot.pk}/submit/"
    other = Api(labeler)("POST", submit, {**body, "digest": "0" * 64, "idempotency_key": "other"})
    assert (other.status_code, other.json()["code"]) == (409, "picture_replaced")
    own = Api(labeler)("POST", submit, {**body, "digest": slot.work_item.digest})
    assert own.status_code == 201


def test_a_partial_publication_carries_what_is_accepted() -> None:
    task = make_task(3)
    label_some(task, 2)
    task = request(task, partial=True)
    assert task.state == states.PUBLISHED
    assert labels_of(task.output_version).num_rows == 2  # type: ignore[arg-type]
    [left_out] = WorkItem.objects.filter(state=states.LEFT_OUT)
    assert left_out.left_out_from == states.READY


def test_a_verdict_during_a_publication_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layer may be written by then: the label would be called published, and be nowhere."""
    task = make_task(2, audit_percent=100)
    labeler, auditor = (make_member(task.project, "labeler") for _ in range(2))
    submit_all(leases.lease_labels(task, labeler, 2), labeler)
    early, late = leases.lease_audits(task, auditor, 2)
    rule(early, auditor, states.ACCEPT)
    said: list[Ruling] = []

    def during(*args: Any, **options: Any) -> Version:
        version = publish_layer(*args, **options)
        said.extend(rule(late, auditor, verdict) for verdict in states.VERDICTS)
        return version

    monkeypatch.setattr(publishing, "publish_layer", during)
    task = request(task, partial=True)

    assert [ruling.error and ruling.error.code for ruling in said] == ["task_not_active"] * 2
    assert task.output_version is not None
    published = WorkItem.objects.filter(state=states.PUBLISHED).values_list("path", flat=True)
    assert labels_of(task.output_version)["path"].to_pylist() == list(published)
    afterwards = rule(late, auditor, states.ACCEPT).error
    assert afterwards is not None
    assert afterwards.code == "task_not_active"
    assert WorkItem.objects.get(state=states.LEFT_OUT).left_out_from == states.AUDIT


def test_a_task_without_accepted_labels_has_nothing_to_publish() -> None:
    task = make_task(2)
    with pytest.raises(NothingToPublish):
        request(task, partial=True)


def test_publishing_twice_makes_one_version() -> None:
    task = make_task(1)
    label_some(task, 1)
    first = request(task)
    second = request(task)
    assert first.output_version == second.output_version
    assert Version.objects.filter(dataset=task.dataset).count() == 2


def test_a_publication_killed_before_its_record_is_finished_by_the_next_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = make_task(2)
    label_some(task, 2)

    class Killed(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "_finish", die)
        with pytest.raises(Killed):
            request(task)
    assert LabelTask.objects.get().state == states.PUBLISHING
    LabelTask.objects.update(updated_at=task.created_at.replace(year=2000))
    tasks.tick()
    task = LabelTask.objects.get()
    assert task.state == states.PUBLISHED
    assert Version.objects.filter(dataset=task.dataset).count() == 2
    assert task.output_version == Version.objects.get(number=2)


def test_labels_of_another_task_over_the_same_version_are_kept() -> None:
    first = make_task(2, prefix="unlabelled/00000")
    second = make_task(
        project=first.project,
        version=first.dataset_version,
        name="second",
        prefix="unlabelled/00001",
    )
    for task, label_id in ((first, 1), (second, 2)):
        label_some(task, 1, label_id)
        request(task)
    newest = Version.objects.get(dataset=first.dataset, number=3)
    assert labels_of(newest).column("label").to_pylist() == ["1", "2"]


def test_the_version_is_pinned_until_the_task_is_published() -> None:
    task = make_task(1)
    assert VersionPin.objects.filter(version=task.dataset_version).count() == 1
    label_some(task, 1)
    request(task)
    assert not VersionPin.objects.filter(holder_id=str(task.pk)).exists()
