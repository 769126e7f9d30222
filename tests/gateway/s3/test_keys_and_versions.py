"""Keys, refs and buckets that change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.db.models import F

from atom.accounts.models import S3KeyPair
from atom.datasets.catalog.actions.catalogue import pin
from atom.datasets.models import Version
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member, make_project
from tests.gateway.s3.conftest import S3Address, Shelf
from tests.gateway.s3.reading import listed, refusal


@pytest.fixture
def client(s3: S3Address, shelf: Shelf) -> Any:
    """boto3 with the researcher's key."""
    return s3.client(shelf.key)


def test_tags_branches_and_commits_name_versions_too(client: Any, shelf: Shelf) -> None:
    commit = shelf.pusher.head() or ""
    shelf.pusher.push({"new.png": png(7)})
    shelf.pusher.post("tags/", {"name": "gold", "at": "v1"})

    assert listed(client, Delimiter="/")[1] == ["gold/", "main/", "v1/", "v2/"]
    for name in ("gold", commit, commit[:12], "v1"):
        assert refusal(client.head_object, Bucket="digits", Key=f"{name}/new.png")[0] == 404
        assert client.head_object(Bucket="digits", Key=f"{name}/a/1.png")["ContentLength"] > 0
    assert client.get_object(Bucket="digits", Key="main/new.png")["Body"].read() == png(7)
    assert client.get_object(Bucket="digits", Key="v2/new.png")["Body"].read() == png(7)


def test_what_retention_let_go_of_is_no_key_and_the_rest_of_the_bucket_is_listed(
    client: Any, shelf: Shelf
) -> None:
    shelf.pusher.push({"new.png": png(7)})
    first = Version.objects.get(number=1)
    pin(first, "run", "r1")
    Version.objects.filter(pk=first.pk).update(state="expired", expired_at=datetime.now(UTC))
    assert listed(client, Delimiter="/")[1] == ["main/", "v1/", "v2/"]

    first.pins.all().delete()
    assert listed(client, Delimiter="/")[1] == ["main/", "v2/"]
    assert {key.partition("/")[0] for key in listed(client)[0]} == {"main", "v2"}
    assert listed(client, Prefix="v1/") == ([], [])
    assert refusal(client.get_object, Bucket="digits", Key="v1/a/1.png") == (404, "NoSuchKey")


def test_a_bucket_is_listed_from_the_layout_without_deltas(client: Any, shelf: Shelf) -> None:
    Version.objects.filter(number=1).update(root="0" * 64, layout=F("root"))

    assert {key.partition("/")[0] for key in listed(client)[0]} == {"main", "v1"}


def test_a_listing_of_a_branch_that_moves_stays_with_its_version(client: Any, shelf: Shelf) -> None:
    first = client.list_objects_v2(Bucket="digits", Prefix="main/", MaxKeys=2)
    shelf.pusher.push({"a/1a.png": png(7)})
    token = first["NextContinuationToken"]
    second = client.list_objects_v2(Bucket="digits", Prefix="main/", ContinuationToken=token)
    keys = [row["Key"] for page in (first, second) for row in page["Contents"]]
    assert keys == sorted(f"main/{path}" for path in shelf.files)


def test_a_listing_whose_version_expires_between_pages_fails_instead_of_ending(
    client: Any, shelf: Shelf
) -> None:
    shelf.pusher.push({"new.png": png(7)})
    first = client.list_objects_v2(Bucket="digits", MaxKeys=5)
    assert first["Contents"][-1]["Key"] == "v1/a/1.png"
    version = Version.objects.filter(number=1)
    version.update(state="expired", expired_at=datetime.now(UTC))

    aborted = (409, "OperationAborted")
    asked = {"Bucket": "digits", "ContinuationToken": first["NextContinuationToken"]}
    assert refusal(client.list_objects_v2, **asked) == aborted
    assert refusal(client.list_objects_v2, **asked, Prefix="v1/") == aborted
    marker = "v1/a/1.png"
    assert refusal(client.list_objects, Bucket="digits", Marker=marker) == aborted
    assert refusal(client.list_objects, Bucket="digits", Marker=marker, Prefix="v1/") == aborted

    version.update(state="kept", expired_at=None)
    rest = client.list_objects_v2(**asked)["Contents"]
    assert [row["Key"] for row in rest][:2] == ["v1/a/2.png", "v1/b/3.png"]


def test_a_wrong_secret_or_an_unknown_key_reads_nothing(s3: S3Address, shelf: Shelf) -> None:
    wrong = s3.client(shelf.key, secret="x" * 40)
    unknown = s3.client(shelf.key, access_key_id="ATOM" + "A" * 16)
    assert refusal(wrong.list_buckets) == (403, "SignatureDoesNotMatch")
    assert refusal(unknown.list_buckets) == (403, "InvalidAccessKeyId")
    anonymous = httpx.get(f"{s3.url}/digits/v1/a/1.png", trust_env=False)
    assert (anonymous.status_code, "AccessDenied" in anonymous.text) == (403, True)
    assert S3KeyPair.objects.get().last_used_at is None


@pytest.mark.parametrize("change", ["revoked", "expired", "inactive", "left"])
def test_a_key_that_is_no_longer_good_reads_nothing(
    s3: S3Address, shelf: Shelf, change: str
) -> None:
    if change == "revoked":
        shelf.pusher.client.delete(f"/api/v1/s3-keys/{shelf.key.pair.pk}/")
    elif change == "expired":
        S3KeyPair.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    elif change == "inactive":
        shelf.user.is_active = False
        shelf.user.save()
    else:
        shelf.user.role_bindings.all().delete()
    assert refusal(s3.client(shelf.key).list_buckets) == (403, "InvalidAccessKeyId")


def test_any_region_is_good_and_the_use_is_noted(s3: S3Address, shelf: Shelf) -> None:
    assert s3.client(shelf.key, region="eu-north-1").list_buckets()["Buckets"]
    assert S3KeyPair.objects.get().last_used_at is not None


def test_buckets_are_the_datasets_of_the_keys_project(client: Any, shelf: Shelf) -> None:
    Pusher(shelf.project, shelf.user, "another").create()
    other = make_project()
    Pusher(other, make_member(other, "researcher"), "foreign").create()

    names = [row["Name"] for row in client.list_buckets()["Buckets"]]

    assert names == ["another", "digits"]
    assert client.head_bucket(Bucket="digits")["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert client.get_bucket_location(Bucket="digits")["LocationConstraint"] is None
    assert refusal(client.list_objects_v2, Bucket="foreign") == (404, "NoSuchBucket")
    assert refusal(client.get_object, Bucket="foreign", Key="v1/x") == (404, "NoSuchBucket")
