"""The history of a file's label: person, time and audit."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.labeling import states
from atom.labeling.actions import leases
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.work import rule, submit_all

pytestmark = pytest.mark.django_db


def test_a_file_names_who_labelled_it_and_who_looked_at_that() -> None:
    task = make_task(2, audit_percent=100)
    labeler, auditor = (make_member(task.project, "labeler") for _ in range(2))
    slots = leases.lease_labels(task, labeler, 5)
    submit_all(slots, labeler, label_id=3)
    for audit in leases.lease_audits(task, auditor, 5):
        rule(audit, auditor, states.ACCEPT)
    client = APIClient()
    client.force_authenticate(make_member(task.project, "viewer"))
    address = f"/api/v1/projects/{task.project.slug}/labelx/item-labels/"
    query = {"dataset": task.dataset.name, "path": slots[0].work_item.path}

    with CaptureQueriesContext(connection) as captured:
        (given,) = client.get(address, query).json()["results"]

    assert (given["label"], given["labeler"]) == ("3", labeler.username)
    assert (given["verdict"], given["auditor"]) == ("accept", auditor.username)
    assert given["is_final"]
    assert given["task_id"] == str(task.pk)
    assert len(captured) < 8
    assert client.get(address, {**query, "path": "nothing"}).json()["results"] == []
    assert client.get(address, {"path": "a"}).status_code == 400
    assert client.get(address, {**query, "dataset": "nothing"}).status_code == 404
    assert client.get(address, {**query, "task": "1"}).status_code == 400
