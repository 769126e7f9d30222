"""A version is copied into a second store, verified, read there by runs near it, and removed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db.models.functions import Now

from atom.core import clock, storage
from atom.datasets.catalog.reads import packs_of
from atom.datasets.keys import pack_key, replica_key
from atom.datasets.models import Replica, Store, StoredPack, Version
from atom.datasets.replicas.actions.copying import work_on_replicas
from atom.datasets.replicas.actions.upkeep import avoid_packs, keep_replicas
from atom.datasets.replicas.engines.rate_limit import RateLimit
from atom.datasets.replicas.pipelines.second_store import FOLDER
from atom.datasets.replicas.reads import addresses_in
from atom.datasets.retention.actions.deletion import delete_dataset
from atom.datasets.sources.pipelines.patience import Patience
from tests.datasets.buckets import Bucket, Moody, refusal
from tests.datasets.pushing import Pusher, class_files, new_pusher
from tests.datasets.replicas.stores import add_store, replicate

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture(autouse=True)
def _allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def store(bucket: Bucket) -> Store:
    return add_store(bucket)


@pytest.fixture
def moody(bucket: Bucket) -> Iterator[Moody]:
    server = Moody(bucket.endpoint)
    yield server
    server.close()


@pytest.fixture
def version(pusher: Pusher) -> Version:
    pusher.push(class_files())
    return Version.objects.select_related("dataset__project").get()


def keys_in(bucket: Bucket) -> list[str]:
    rows = bucket.client.list_objects_v2(Bucket=bucket.name).get("Contents", [])
    return [row["Key"] for row in rows]


def in_store(version: Version, key: str) -> str:
    return f"{FOLDER}p/{version.dataset.project_id}/{key}"


def remove(pusher: Pusher, ref: str, store: Store) -> None:
    answer = pusher.client.delete(f"{pusher.base}versions/{ref}/replicas/{store.name}/")
    assert answer.status_code == 202, answer.content


def test_a_version_is_copied_verified_and_pointed_at(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store
) -> None:
    preview = pusher.get("versions/v1/replica-preview/", store=store.name)
    assert preview["bytes_to_copy"] == preview["bytes_total"] > 0
    replica = replicate(pusher, "v1", store)
    assert (replica["state"], replica["error"]) == ("there", None)
    assert replica["bytes_verified"] == replica["bytes_copied"] == replica["bytes_total"]
    assert replica["packs_verified"] == len(packs_of(version))
    assert replica["verified_at"] is not None
    keys = keys_in(bucket)
    assert in_store(version, replica_key(version.pk)) in keys
    for digest in packs_of(version):
        url = addresses_in(store, version.dataset.project_id, [digest])[digest]
        own = storage.project_store(version.dataset.project).get(pack_key(digest))
        assert httpx.get(url).content == own
    again = pusher.get("versions/v1/replica-preview/", store=store.name)
    assert (again["bytes_to_copy"], again["cost"]) == (0, "0.000000")


def test_the_price_is_shown_before_and_kept(
    pusher: Pusher, version: Version, bucket: Bucket
) -> None:
    store = add_store(
        bucket,
        egress_per_gib="1024",
        write_per_gib="1024",
        keep_per_gib_month="512",
        currency="EUR",
    )
    preview = pusher.get("versions/v1/replica-preview/", store=store.name)
    gib = preview["bytes_total"] / (1 << 30)
    assert float(preview["cost"]) == pytest.approx(2048 * gib, abs=1e-6)
    assert float(preview["cost_per_month"]) == pytest.approx(512 * gib, abs=1e-6)
    replica = replicate(pusher, "v1", store)
    assert (replica["cost"], replica["currency"]) == (preview["cost"], "EUR")
    assert replica["cost_per_month"] == preview["cost_per_month"]


def test_the_next_version_costs_its_difference(
    pusher: Pusher, version: Version, store: Store
) -> None:
    replicate(pusher, "v1", store)
    pusher.push({"new.bin": b"n" * 5000})
    preview = pusher.get("versions/v2/replica-preview/", store=store.name)
    assert 0 < preview["bytes_to_copy"] < preview["bytes_total"]
    assert preview["packs_to_copy"] == 1
    assert replicate(pusher, "v2", store)["state"] == "there"


def test_removal_leaves_packs_of_other_replicas(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store
) -> None:
    replicate(pusher, "v1", store)
    pusher.push({"new.bin": b"n" * 5000})
    second = Version.objects.select_related("dataset__project").get(number=2)
    replicate(pusher, "v2", store)
    remove(pusher, "v2", store)
    leaving = Replica.objects.get(version=second)
    assert leaving.state == "removing"
    assert leaving.removes_at is not None
    assert leaving.removes_at > clock.now() + timedelta(hours=1)
    only_second = set(packs_of(second)) - set(packs_of(version))
    keys = keys_in(bucket)
    assert all(in_store(version, pack_key(digest)) in keys for digest in only_second)
    Replica.objects.update(removes_at=Now())
    keep_replicas()
    keys = keys_in(bucket)
    assert not Replica.objects.filter(version=second).exists()
    assert not any(in_store(version, pack_key(digest)) in keys for digest in only_second)
    assert in_store(version, replica_key(second.pk)) not in keys
    assert all(in_store(version, pack_key(digest)) in keys for digest in packs_of(version))
    assert storage.project_store(version.dataset.project).exists(pack_key(min(only_second)))


def test_an_end_that_passes_ends_reading_at_once_and_the_objects_later(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store
) -> None:
    replicate(pusher, "v1", store, pinned=False, ends_at=clock.now() + timedelta(hours=1))
    digest = packs_of(version)[0]
    url = addresses_in(store, version.dataset.project_id, [digest])[digest]
    Replica.objects.update(ends_at=Now())
    keep_replicas()
    assert Replica.objects.get().state == "removing"
    # A reader that has its address reads on.
    assert httpx.get(url).status_code == 200
    Replica.objects.update(removes_at=Now())
    keep_replicas()
    assert httpx.get(url).status_code == 404
    assert keys_in(bucket) == []
    assert not StoredPack.objects.exists()


def test_wrong_bytes_in_the_store_are_found_and_replaced(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store
) -> None:
    replicate(pusher, "v1", store)
    digest = packs_of(version)[0]
    key = in_store(version, pack_key(digest))
    right = bucket.client.get_object(Bucket=bucket.name, Key=key)["Body"].read()
    bucket.put({key: b"x" * len(right)})
    avoid_packs(store, version.dataset.project_id, [digest], is_suspect=True)
    row = StoredPack.objects.get(digest=digest)
    assert row.state == "there"
    assert bucket.client.get_object(Bucket=bucket.name, Key=key)["Body"].read() == right
    assert Replica.objects.get().state == "there"


def test_a_pack_that_gave_trouble_is_read_elsewhere_for_a_while(
    pusher: Pusher, version: Version, store: Store
) -> None:
    replicate(pusher, "v1", store)
    digest, project_id = packs_of(version)[0], version.dataset.project_id
    avoid_packs(store, project_id, [digest], is_suspect=False)
    assert addresses_in(store, project_id, [digest]) == {}
    StoredPack.objects.update(avoided_until=Now())
    assert list(addresses_in(store, project_id, [digest])) == [digest]


class Corrupting(Moody):
    """A server that gives other bytes of packs than it took."""

    def passed_on(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        """Return the bucket's answer, with the bytes of a pack reversed."""
        status, content, kept = super().passed_on(method, path, headers, body)
        return status, content[::-1] if method == "GET" and "/packs/" in path else content, kept


def test_a_store_that_corrupts_data_fails_the_replica(
    pusher: Pusher, version: Version, bucket: Bucket
) -> None:
    server = Corrupting(bucket.endpoint)
    try:
        replica = replicate(pusher, "v1", add_store(bucket, endpoint=server.url))
    finally:
        server.close()
    assert (replica["state"], replica["error"]["code"]) == ("failed", "store_corrupts")
    assert replica["verified_at"] is None
    store = Store.objects.get()
    assert addresses_in(store, version.dataset.project_id, packs_of(version)) == {}


def test_a_store_that_goes_away_is_tried_again_and_finishes(
    pusher: Pusher, version: Version, bucket: Bucket, moody: Moody, impatient: None
) -> None:
    store = add_store(bucket, endpoint=moody.url)
    moody.mood = lambda path: refusal(500, "InternalError") if "/packs/" in path else None
    replica = replicate(pusher, "v1", store)
    assert (replica["state"], replica["error"]["code"]) == ("waiting", "store_away")
    assert replica["retry_at"] is not None
    keep_replicas()
    assert Replica.objects.get().state == "waiting", "it waits before it tries again"
    moody.mood = lambda path: None
    Replica.objects.update(retry_at=Now())
    keep_replicas()
    row = Replica.objects.get()
    assert (row.state, row.error_code, row.failures) == ("there", "", 0)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no store for long."""
    from atom.datasets.replicas.pipelines.second_store import SecondStore

    monkeypatch.setattr(SecondStore.__init__, "__defaults__", (Patience(tries=1),))


def test_refused_credentials_fail_it_and_a_new_start_goes_on(
    pusher: Pusher, version: Version, bucket: Bucket, moody: Moody
) -> None:
    store = add_store(bucket, endpoint=moody.url)
    moody.mood = lambda path: refusal(403, "AccessDenied") if "/packs/" in path else None
    assert replicate(pusher, "v1", store)["error"]["code"] == "store_denied"
    moody.mood = lambda path: None
    assert replicate(pusher, "v1", store)["state"] == "there"


def test_a_second_worker_leaves_the_work_to_the_first(
    pusher: Pusher, version: Version, store: Store, eager_off: None
) -> None:
    replicate(pusher, "v1", store)
    assert Replica.objects.get().state == "waiting"
    project_id = version.dataset.project_id
    work_on_replicas(store.pk, project_id)
    assert Replica.objects.get().state == "there"
    # A message that comes twice finds nothing to do.
    work_on_replicas(store.pk, project_id)
    assert StoredPack.objects.count() == len(packs_of(version))


@pytest.fixture
def eager_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep messages from workers."""
    from atom.datasets.tasks import work_on_replicas as task

    monkeypatch.setattr(task, "apply_async", lambda *args, **options: None)


def test_starting_twice_is_refused_and_not_doubled(
    pusher: Pusher, version: Version, store: Store
) -> None:
    replicate(pusher, "v1", store)
    answer = pusher.client.post(
        f"{pusher.base}versions/v1/replicas/", {"store": store.name, "pinned": True}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "replica_present")


def test_a_copy_stops_when_its_time_is_over_and_goes_on_later(
    pusher: Pusher, version: Version, store: Store, eager_off: None
) -> None:
    replicate(pusher, "v1", store)
    work_on_replicas(store.pk, version.dataset.project_id, budget_s=0)
    assert Replica.objects.get().state == "waiting"
    keep_replicas()
    work_on_replicas(store.pk, version.dataset.project_id)
    assert Replica.objects.get().state == "there"


def test_cancelling_before_it_is_there_removes_it_at_once(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store, eager_off: None
) -> None:
    replicate(pusher, "v1", store)
    remove(pusher, "v1", store)
    work_on_replicas(store.pk, version.dataset.project_id)
    assert not Replica.objects.exists()
    assert keys_in(bucket) == []


def test_a_deleted_dataset_takes_its_replicas_along(
    pusher: Pusher, version: Version, bucket: Bucket, store: Store
) -> None:
    replicate(pusher, "v1", store)
    delete_dataset(version.dataset, pusher.user)
    keep_replicas()
    assert Replica.objects.get().state == "removing"
    Replica.objects.update(removes_at=Now())
    keep_replicas()
    assert not Replica.objects.exists()
    assert keys_in(bucket) == []


def test_another_layout_is_copied_after_it(pusher: Pusher, version: Version, store: Store) -> None:
    replicate(pusher, "v1", store)
    Replica.objects.update(root="0" * 64)
    keep_replicas()
    row = Replica.objects.get()
    assert (row.state, row.root) == ("there", version.readable_root)


def test_projects_lie_apart(pusher: Pusher, version: Version, bucket: Bucket, store: Store) -> None:
    replicate(pusher, "v1", store)
    other = new_pusher()
    other.push(class_files())
    second = Version.objects.select_related("dataset__project").get(dataset__project=other.project)
    assert addresses_in(store, other.project.pk, packs_of(second)) == {}
    answer = other.client.get(f"{pusher.base}versions/v1/replicas/{store.name}/")
    assert answer.status_code == 404
    replicate(other, "v1", store)
    prefixes = {key.split("/")[2] for key in keys_in(bucket)}
    assert prefixes == {str(pusher.project.pk), str(other.project.pk)}


def test_a_limit_holds_for_all_threads_together() -> None:
    limit = RateLimit(1 << 40)
    for _ in range(3):
        limit.wait(1 << 20)
    assert limit._free_at > 0
    RateLimit(None).wait(1 << 60)
