"""A worker that is killed anywhere in a copy or a removal loses nothing that counts."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models.functions import Now

from atom.datasets.catalog.reads import packs_of
from atom.datasets.models import Replica, StoredPack, Version
from atom.datasets.replicas.actions.copying import work_on_replicas
from atom.datasets.replicas.reads import addresses_in
from atom.datasets.tasks import work_on_replicas as task
from tests.datasets.buckets import Bucket
from tests.datasets.commits.test_crash_points import die
from tests.datasets.pushing import Pusher, class_files, new_pusher
from tests.datasets.replicas.crash_points import COPYING_POINTS, REMOVAL_POINT
from tests.datasets.replicas.stores import add_store, replicate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pusher(transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Pusher:
    """A version of two packs; messages do not reach workers."""
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    monkeypatch.setattr(task, "apply_async", lambda *args, **options: None)
    pusher = new_pusher()
    pusher.push(class_files())
    pusher.push({"more.bin": b"m" * 9000})
    return pusher


@pytest.mark.parametrize("point", COPYING_POINTS)
def test_a_killed_copy_goes_on(pusher: Pusher, point: str) -> None:
    version = Version.objects.select_related("dataset__project").get(number=2)
    store = add_store(Bucket())
    replicate(pusher, "v2", store)
    replica = Replica.objects.get()
    die("replicate", replica.pk, point)
    # Nothing is read before the pointer is written and noted.
    replica.refresh_from_db()
    assert (replica.verified_at, replica.state == "there") == (None, False)
    work_on_replicas(store.pk, version.dataset.project_id)
    replica.refresh_from_db()
    assert (replica.state, replica.error_code) == ("there", "")
    packs = packs_of(version)
    assert sorted(addresses_in(store, version.dataset.project_id, packs)) == packs


def test_a_killed_removal_goes_on(pusher: Pusher) -> None:
    version = Version.objects.select_related("dataset__project").get(number=2)
    bucket = Bucket()
    store = add_store(bucket)
    replicate(pusher, "v2", store)
    work_on_replicas(store.pk, version.dataset.project_id)
    Replica.objects.update(state="removing", removes_at=Now())
    die("replicate", Replica.objects.get().pk, REMOVAL_POINT)
    assert not StoredPack.objects.exists()
    assert Replica.objects.exists()
    work_on_replicas(store.pk, version.dataset.project_id)
    assert not Replica.objects.exists()
    assert "Contents" not in bucket.client.list_objects_v2(Bucket=bucket.name)
