"""Every night the catalogue is compared with the bucket; the health page tells what came out."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.test import Client

from atom.accounts.models import Project
from atom.celery import app
from atom.core import storage
from atom.core.clock import now
from atom.datasets import keys, tasks
from atom.datasets.integrity.actions import catalogue_checks
from atom.datasets.integrity.actions.catalogue_checks import check_catalogues
from atom.datasets.integrity.actions.rebuild import compare_datasets
from atom.datasets.integrity.rebuild import read_datasets
from atom.datasets.models import (
    Branch,
    CatalogueCheck,
    CommitRequest,
    Dataset,
    Pack,
    Tag,
    Upload,
    Version,
)
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, new_pusher, png
from tests.factories.accounts import make_project, make_user

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture
def history(committing_db: None) -> Pusher:
    """Two datasets, with three versions and a tag."""
    return made_once(push_history)


def push_history() -> Pusher:
    pusher = new_pusher()
    pusher.push({"a.png": png(1)})
    pusher.push({"b.png": png(2)})
    pusher.post("tags/", {"name": "first", "at": "v1"})
    Pusher(pusher.project, pusher.user, "letters").create().push({"c.png": png(3)})
    return pusher


@pytest.fixture
def administrators() -> Client:
    client = Client()
    client.force_login(make_user(is_superuser=True))
    return client


def found_by(client: Client) -> dict[str, dict[str, Any]]:
    """Return what the health page says of the catalogue."""
    findings = client.get("/api/v1/health/").json()["findings"]
    return {one["code"]: one for one in findings if one["code"].startswith("catalogue")}


def check_again() -> CatalogueCheck:
    """Let a day pass, and compare."""
    CatalogueCheck.objects.update(created_at=now() - timedelta(days=1))
    check_catalogues()
    return CatalogueCheck.objects.latest("created_at")


def test_a_catalogue_that_is_right_is_told_to_be(history: Pusher, administrators: Client) -> None:
    assert found_by(administrators) == {}

    tasks.check_catalogues()

    check = CatalogueCheck.objects.get()
    assert check.finished_at is not None
    assert (check.difference_count, check.differences) == (0, [])
    packs = Pack.objects.count()
    assert (check.dataset_count, check.version_count, check.pack_count) == (2, 3, packs)
    [(code, told)] = found_by(administrators).items()
    assert (code, told["level"]) == ("catalogue", "ok")
    assert (told["figures"]["versions"], told["figures"]["projects"]) == (3, 1)


def test_a_row_that_is_gone_and_one_that_was_changed_are_named(
    history: Pusher, administrators: Client
) -> None:
    Tag.objects.get(name="first").delete()
    Version.objects.filter(number=2).update(message="rewritten")

    check_catalogues()

    check = CatalogueCheck.objects.get()
    assert check.difference_count == len(check.differences) == 3
    assert any("only in the bucket: tag digits first" in line for line in check.differences)
    assert any("rewritten" in line for line in check.differences)
    told = found_by(administrators)
    assert set(told) == {"catalogue_differs"}
    said = told["catalogue_differs"]
    assert said["level"] == "problem"
    assert "rebuild_catalogue" in said["action"]
    assert said["figures"]["names"] == history.project.slug
    assert said["figures"]["first"] == check.differences[0]


def test_a_dataset_that_only_the_bucket_knows_is_named(history: Pusher) -> None:
    of_lost = {"dataset__name": "letters"}
    for rows in (CommitRequest, Upload, Branch, Version):
        rows.objects.filter(**of_lost).delete()
    Dataset.objects.filter(name="letters").delete()

    check_catalogues()

    assert any(
        line.startswith("only in the bucket: dataset letters")
        for line in CatalogueCheck.objects.get().differences
    )


def test_a_pack_that_the_bucket_lost_is_named(history: Pusher) -> None:
    pack = Pack.objects.order_by("pk").first()
    assert pack is not None
    prefix = storage.project_prefix(history.project)
    storage.objects().delete(f"{prefix}{keys.pack_key(pack.digest)}")

    check_catalogues()

    lost = f"only in the catalogue: pack {pack.digest}"
    assert CatalogueCheck.objects.get().differences == [lost]


def test_documents_that_cannot_be_read_hide_no_other_dataset(history: Pusher) -> None:
    broken = Dataset.objects.get(name="letters")
    prefix = storage.project_prefix(history.project)
    storage.objects().put(f"{prefix}{keys.dataset_key(broken.pk, broken.revision)}", b"{")
    Version.objects.filter(number=2).update(message="rewritten")

    check_catalogues()

    check = CatalogueCheck.objects.get()
    assert any(f"dataset {broken.pk} cannot be read" in line for line in check.differences)
    assert any("rewritten" in line for line in check.differences)


def test_what_was_mended_is_told_no_longer(history: Pusher, administrators: Client) -> None:
    Version.objects.filter(number=2).update(message="rewritten")
    check_catalogues()
    assert set(found_by(administrators)) == {"catalogue_differs"}

    Version.objects.filter(number=2).update(message="")

    assert check_again().difference_count == 0
    assert set(found_by(administrators)) == {"catalogue"}


def test_what_is_committed_while_it_compares_is_no_difference(
    history: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def read_and_push(*args: Any) -> Any:
        # Each time when the bucket is read, and the rows are not.
        nonlocal looks
        found = read_datasets(*args)
        looks += 1
        history.push({f"{looks}.png": png(looks)})
        return found

    monkeypatch.setattr("atom.datasets.integrity.actions.rebuild.read_datasets", read_and_push)
    check_catalogues()

    assert looks == 2
    assert CatalogueCheck.objects.get().difference_count == 0


def test_a_worker_that_is_cut_off_leaves_the_rest_to_the_next(
    history: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_checks, "_BATCH_DATASETS", 1)
    looked_at: list[Any] = []

    def cut_off(project: Project, ids: Any) -> Any:
        if len(looked_at) == 1:
            looked_at.append(None)
            raise SoftTimeLimitExceeded
        looked_at.append(ids)
        return compare_datasets(project, ids)

    monkeypatch.setattr(catalogue_checks, "compare_datasets", cut_off)
    tasks.check_catalogues()
    assert CatalogueCheck.objects.get().finished_at is None

    tasks.check_catalogues()

    check = CatalogueCheck.objects.get()
    assert check.finished_at is not None
    assert (check.dataset_count, check.version_count) == (2, 3)
    # None was looked at twice.
    assert sorted(ids[0] for ids in looked_at if ids) == sorted(
        Dataset.objects.values_list("pk", flat=True)
    )


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_compare_once(history: Pusher) -> None:
    both = threading.Barrier(2)

    def work() -> None:
        both.wait(30)
        try:
            check_catalogues()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as workers:
        for done in [workers.submit(work) for _ in range(2)]:
            done.result(60)

    assert CatalogueCheck.objects.count() == 1
    assert CatalogueCheck.objects.get().version_count == 3


def test_a_project_is_compared_once_a_night(history: Pusher) -> None:
    check_catalogues()
    check_catalogues()
    assert CatalogueCheck.objects.count() == 1

    check_again()
    assert CatalogueCheck.objects.count() == 2


def test_outcomes_are_kept_for_a_month(history: Pusher) -> None:
    check_catalogues()
    CatalogueCheck.objects.update(finished_at=now() - timedelta(days=31))
    last = check_again()
    assert CatalogueCheck.objects.get() == last


def test_comparisons_that_do_not_come_to_an_end_are_told(administrators: Client) -> None:
    project = make_project()
    assert found_by(administrators) == {}
    Project.objects.update(created_at=now() - timedelta(days=4))
    # Begun, and never finished.
    CatalogueCheck.objects.create(project=project)

    told = found_by(administrators)

    assert set(told) == {"catalogue_unchecked"}
    said = told["catalogue_unchecked"]
    assert (said["level"], said["figures"]) == ("warning", {"total": 1, "names": project.slug})
    check_catalogues()
    assert set(found_by(administrators)) == {"catalogue"}


def test_beat_sends_it_each_night() -> None:
    app.finalize(auto=True)
    entry = app.conf.beat_schedule["datasets.check_catalogues"]
    assert entry["task"] in app.tasks
    assert app.tasks[entry["task"]].soft_time_limit
