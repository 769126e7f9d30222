"""Administrators add second stores; keys never come out, and addresses inside are refused."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import User
from atom.datasets.models import Replica, Store
from tests.datasets.buckets import Bucket, Moody, refusal
from tests.datasets.pushing import Pusher, class_files
from tests.datasets.replicas.stores import add_store, replicate, store_body
from tests.factories.accounts import make_user

pytestmark = pytest.mark.usefixtures("committing_db")
STORES = "/api/v1/stores/"


@pytest.fixture
def allowed(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def admin() -> User:
    return make_user(is_superuser=True)


@pytest.fixture
def api(admin: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin)
    return client


@pytest.mark.usefixtures("allowed")
def test_a_store_is_checked_and_its_keys_stay_inside(api: APIClient) -> None:
    bucket = Bucket()
    body = store_body(bucket, prefix="atom/data", egress_per_gib="0.09", currency="USD")
    answer = api.post(STORES, body)
    assert answer.status_code == 201, answer.content
    row = answer.json()
    assert (row["name"], row["prefix"], row["problem"]) == ("frankfurt", "atom/data/", None)
    assert row["has_credentials"] is True
    assert body["secret_access_key"] not in answer.content.decode()
    assert body["secret_access_key"] not in Store.objects.get().credentials
    listed = bucket.client.list_objects_v2(Bucket=bucket.name)
    assert "Contents" not in listed, "the check leaves nothing"
    assert api.post(STORES, body).json()["code"] == "store_name_taken"


def test_an_address_inside_is_refused(api: APIClient) -> None:
    bucket = Bucket()
    answer = api.post(STORES, store_body(bucket))
    assert (answer.status_code, answer.json()["code"]) == (400, "store_address_refused")
    assert not Store.objects.exists()


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "atom"}, "name"),
        ({"name": "Big Name"}, "name"),
        ({"prefix": "a/../b"}, "prefix"),
        ({"prefix": "/a"}, "prefix"),
        ({"egress_per_gib": "-1", "currency": "EUR"}, "egress_per_gib"),
        ({"egress_per_gib": "1"}, "currency"),
        ({"bucket": "No Bucket"}, "bucket"),
    ],
)
def test_wrong_fields_are_named(api: APIClient, change: dict[str, Any], field: str) -> None:
    answer = api.post(STORES, store_body(Bucket()) | change)
    assert answer.status_code == 400, answer.content
    assert field in answer.json()["errors"]


@pytest.mark.usefixtures("allowed")
def test_a_store_that_refuses_writes_is_not_added(api: APIClient) -> None:
    bucket = Bucket()
    server = Moody(bucket.endpoint)
    server.mood = lambda path: refusal(403, "AccessDenied")
    try:
        answer = api.post(STORES, store_body(bucket, endpoint=server.url))
    finally:
        server.close()
    assert answer.json()["code"] == "store_denied"
    assert not Store.objects.exists()


@pytest.mark.usefixtures("allowed")
def test_the_last_check_is_shown(api: APIClient) -> None:
    bucket = Bucket()
    server = Moody(bucket.endpoint)
    store = add_store(bucket, endpoint=server.url)
    server.mood = lambda path: refusal(403, "AccessDenied")
    try:
        row = api.post(f"{STORES}{store.name}/check/").json()
        assert row["problem"]["code"] == "store_denied"
        server.mood = lambda path: None
        assert api.post(f"{STORES}{store.name}/check/").json()["problem"] is None
    finally:
        server.close()


@pytest.mark.usefixtures("allowed")
def test_fees_change_and_wrong_keys_are_refused(api: APIClient) -> None:
    store = add_store(Bucket())
    row = api.patch(f"{STORES}{store.name}/", {"keep_per_gib_month": "0.02", "currency": "EUR"})
    assert row.json()["keep_per_gib_month"] == "0.020000"
    wrong = {"access_key_id": "nobody", "secret_access_key": "nothing"}
    assert api.patch(f"{STORES}{store.name}/", wrong).json()["code"] == "store_denied"
    half = api.patch(f"{STORES}{store.name}/", {"access_key_id": "one"})
    assert "secret_access_key" in half.json()["errors"]


@pytest.mark.usefixtures("allowed")
def test_others_see_names_and_fees_and_change_nothing(pusher: Pusher) -> None:
    store = add_store(Bucket())
    (row,) = pusher.client.get(STORES).json()["results"]
    assert (row["name"], row["endpoint"], row["bucket"]) == (store.name, None, None)
    assert pusher.client.post(STORES, store_body(Bucket(), "other")).status_code == 404
    assert pusher.client.patch(f"{STORES}{store.name}/", {}).status_code == 404
    assert pusher.client.delete(f"{STORES}{store.name}/").status_code == 404
    assert pusher.client.post(f"{STORES}{store.name}/check/").status_code == 404


@pytest.mark.usefixtures("allowed")
def test_a_store_with_replicas_stays(api: APIClient, pusher: Pusher) -> None:
    pusher.push(class_files())
    store = add_store(Bucket())
    replicate(pusher, "v1", store)
    answer = api.delete(f"{STORES}{store.name}/")
    assert (answer.status_code, answer.json()["code"]) == (409, "store_in_use")
    assert Replica.objects.get().state == "there"


@pytest.mark.usefixtures("allowed")
def test_an_empty_store_is_forgotten(api: APIClient) -> None:
    store = add_store(Bucket())
    assert api.delete(f"{STORES}{store.name}/").status_code == 204
    assert api.get(f"{STORES}{store.name}/").json()["code"] == "store_not_found"
