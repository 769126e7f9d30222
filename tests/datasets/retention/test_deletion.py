"""A deleted dataset is out of sight at once, and comes back until its files are collected."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import F
from rest_framework.test import APIClient

from atom.accounts.actions import grant_role
from atom.accounts.models import AuditEvent
from atom.datasets.catalog.actions.catalogue import pin, unpin
from atom.datasets.commit_runner import run_commit
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import CommitRequest, Dataset, Upload, Version
from atom.datasets.retention.actions.deletion import purge_dataset
from atom.datasets.retention.actions.garbage import add_garbage_run, collect_garbage
from atom.datasets.retention.actions.retention import place_hold, release_hold
from tests.datasets.pushing import Pusher, class_files, png, prepared_commit
from tests.datasets.retention.test_garbage import AT_ONCE, NO_GRACE, stored
from tests.factories.accounts import make_member


def delete(pusher: Pusher, name: str = "digits") -> tuple[int, str]:
    answer = pusher.client.delete(f"{pusher.base}?name={name}")
    return answer.status_code, answer.json()["code"] if answer.content else ""


def status_of(client: APIClient, address: str) -> tuple[int, str]:
    answer = client.get(address)
    return answer.status_code, answer.json().get("code", "")


def test_who_made_a_dataset_without_versions_may_delete_it_and_its_name_is_free(
    pusher: Pusher,
) -> None:
    datasets = f"/api/v1/projects/{pusher.project.slug}/datasets/"
    other = make_member(pusher.project, "researcher")
    for name, maker in (("mine", pusher.user), ("theirs", other)):
        Dataset.objects.create(project=pusher.project, name=name, created_by=maker)
    assert pusher.client.delete(f"{datasets}theirs/?name=theirs").status_code == 403
    assert pusher.client.delete(f"{datasets}mine/?name=mine").status_code == 204
    assert pusher.client.post(datasets, {"name": "mine"}).status_code == 201
    names = pusher.client.get(f"/api/v1/projects/{pusher.project.slug}/deleted-datasets/")
    assert names.status_code == 403 or names.json()["results"] == []


@pytest.mark.django_db(transaction=True)
def test_who_made_a_dataset_may_not_delete_it_once_its_first_version_comes(
    pusher: Pusher,
) -> None:
    request = prepared_commit(pusher, {"a.png": png(1)})

    def push() -> None:
        run_commit(request.pk)
        connections.close_all()

    def first_version_comes(execute: Any, sql: str, *rest: Any) -> Any:
        if "datasets_dataset" in sql and "FOR UPDATE" in sql and not Version.objects.exists():
            other = Thread(target=push)
            other.start()
            other.join()
        return execute(sql, *rest)

    with connection.execute_wrapper(first_version_comes):
        assert delete(pusher) == (403, "role_too_low")
    assert pusher.get("versions/v1/")["file_count"] == 1


def test_a_dataset_is_deleted_and_comes_back_as_it_was(pusher: Pusher) -> None:
    pusher.push(class_files())
    before = pusher.get("")
    project = f"/api/v1/projects/{pusher.project.slug}/"
    assert delete(pusher)[0] == 403
    grant_role(pusher.user, "admin", pusher.project)
    assert delete(pusher, "Digits") == (400, "deletion_unconfirmed")
    version = Version.objects.get()

    hold = place_hold(version.dataset, version, "a dispute", None)
    assert delete(pusher) == (409, "dataset_held")
    answer = pusher.client.delete(f"{pusher.base}?name=digits")
    assert answer.json()["detail"] == "One legal hold keeps digits."
    release_hold(hold, None)
    pin(version, "run", "r1")
    assert delete(pusher) == (409, "dataset_in_use")
    unpin("run", "r1")
    CommitRequest.objects.update(state="building")
    assert delete(pusher) == (409, "dataset_in_use")
    CommitRequest.objects.update(state="published")

    assert delete(pusher) == (204, "")
    assert pusher.client.get(f"{project}datasets/").json()["results"] == []
    for address in ("", "versions/v1/", "versions/v1/entries/", "archive/"):
        assert status_of(pusher.client, pusher.base + address) == (410, "dataset_deleted")
        # A browser would keep a 410 for ever, also when the dataset is restored.
        assert pusher.client.get(pusher.base + address)["Cache-Control"] == "no-store"
    taken = pusher.client.post(f"{project}datasets/", {"name": "digits"})
    assert (taken.status_code, taken.json()["code"]) == (409, "dataset_name_taken")
    assert "deleted" in taken.json()["detail"]
    assert compare_catalogue(pusher.project).is_equal

    (row,) = pusher.client.get(f"{project}deleted-datasets/").json()["results"]
    assert (row["name"], row["versions_count"]) == ("digits", 1)
    for _ in range(2):
        answer = pusher.client.post(f"{project}deleted-datasets/{row['id']}/restore/", {})
        assert answer.status_code in {200, 404}
    assert {**pusher.get(""), "updated_at": 0} == {**before, "updated_at": 0}
    assert pusher.push({"more.png": png(8)})["number"] == 2
    told = AuditEvent.objects.filter(verb__in=["dataset.deleted", "dataset.restored"])
    assert told.count() == 2


def test_after_the_window_its_files_go_and_its_name_is_free(pusher: Pusher) -> None:
    pusher.push(class_files())
    grant_role(pusher.user, "admin", pusher.project)
    assert delete(pusher)[0] == 204
    Upload.objects.update(updated_at=F("updated_at") - timedelta(days=8))
    run = collect_garbage(add_garbage_run(pusher.project, None, is_dry_run=False).pk, NO_GRACE)
    assert run.garbage_count > 0
    assert any(key.startswith("packs/") for key in stored(pusher))

    # Another collection, for which the window is over.
    collect_garbage(add_garbage_run(pusher.project, None, is_dry_run=False).pk, AT_ONCE)

    left = {key.partition("/")[0] for key in stored(pusher)}
    assert "packs" not in left
    assert {"commits", "roots", "datasets"} <= left
    gone = Dataset.with_deleted.get()
    assert gone.purged_at is not None
    assert set(gone.versions.values_list("state", flat=True)) == {"collected"}
    assert purge_dataset(gone) is False
    assert compare_catalogue(pusher.project).is_equal
    assert status_of(pusher.client, pusher.base) == (404, "not_found")
    pusher.create().push({"again.png": png(9)})
