"""Fixtures that every test may use. The services are started by tests/plugin.py."""

from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.stack import Stack

E2E_TIMEOUT_S = 600

_DELETE_ALL = """
DO $$
DECLARE
    name text;
    filled boolean;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOREACH name IN ARRAY ARRAY[%s] LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %%I)', name) INTO filled;
        IF filled THEN
            EXECUTE format('DELETE FROM %%I', name);
        END IF;
    END LOOP;
END $$
"""

# How long an example takes says something of the machine only.
hypothesis_settings.register_profile(
    "atom", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("atom")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every test of the whole stack first: they take longest."""
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(E2E_TIMEOUT_S))
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_by_deleting() -> Iterator[None]:
    """Empty tables between tests by deleting their few rows: truncating all costs 50 times that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", delete_all_rows)
        yield


def delete_all_rows(
    _: DatabaseOperations, style: object, tables: list[str], **__: bool
) -> list[str]:
    """Return the statement that deletes every row; as in truncating, no trigger fires."""
    names = ", ".join(f"'{table}'" for table in tables)
    return [_DELETE_ALL % names] if tables else []


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Leave out what Django writes after each emptying of the tables: nobody here reads it."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session")
def redis_connection() -> Iterator[redis.Redis]:
    """A client of this worker's own Redis database."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        yield client


@pytest.fixture(autouse=True)
def _empty_redis(redis_connection: redis.Redis) -> Iterator[None]:
    """Leave no cache entry, throttle counter or stream to the next test."""
    yield
    redis_connection.flushdb()


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The whole stack, started once: `stack.base_url`, `stack.admin_password`, …"""
    running = Stack.create()
    try:
        running.start()
        yield running
        running.stop()
    finally:
        running.remove()
