"""The services that tests stand on are the real ones."""

import pytest
import redis
from django.conf import settings
from django.db import connection

from atom.dev.seaweed import make_client


@pytest.mark.django_db
def test_database_is_postgresql_18() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        assert cursor.fetchone()[0].startswith("18.")


def test_each_worker_has_a_redis_database_of_its_own(redis_connection: redis.Redis) -> None:
    redis_connection.set("key", "value")
    assert redis_connection.get("key") == b"value"


def test_bucket_answers_ranges() -> None:
    client = make_client(
        settings.S3_ENDPOINT_URL, settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY
    )
    client.put_object(Bucket=settings.S3_BUCKET, Key="numbers", Body=b"0123456789")
    answer = client.get_object(Bucket=settings.S3_BUCKET, Key="numbers", Range="bytes=2-4")
    assert answer["Body"].read() == b"234"
