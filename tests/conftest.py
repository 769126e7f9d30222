"""Fixtures that every test may use. The services are started by tests/plugin.py."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.models.signals import post_migrate
from django.test import TransactionTestCase
from pytest_django.plugin import DjangoDbBlocker

from tests.databases import (
    delete_all_rows,
    empty_tables,
    keep_as_template,
    keep_workflows,
    one_worker_at_a_time,
    take_template,
)
from tests.datasets import buckets
from tests.environments import prepare_environments
from tests.rollback import run_at_commits
from tests.stack import Stack

E2E_TIMEOUT_S = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of the whole stack, which may take longer, and tests whose push has a server."""
    for item in items:
        if item.get_closest_marker("pushed"):
            item.add_marker(pytest.mark.django_db(transaction=True))
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(E2E_TIMEOUT_S))


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_by_deleting() -> Iterator[None]:
    """Empty tables between tests by deleting their few rows: truncating all costs 50 times that.

    Django's command would look for tables and for management modules of all apps each time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", delete_all_rows)
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_tables())
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _: False)
        yield


@pytest.fixture(scope="session")
def database_lock() -> Iterator[ExitStack]:
    """Held while a worker makes its database; the first one leaves a template to the others."""
    with ExitStack() as lock:
        lock.enter_context(one_worker_at_a_time())
        yield lock


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    database_lock: ExitStack,
    django_db_blocker: DjangoDbBlocker,
) -> None:
    """Copy the template; leave out what Django writes after each emptying: nobody here reads it."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    with django_db_blocker.unblock():
        take_template()


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, database_lock: ExitStack, django_db_blocker: DjangoDbBlocker
) -> None:
    """Make the database as pytest-django does."""
    with django_db_blocker.unblock():
        keep_as_template()
        keep_workflows()
    database_lock.close()


@pytest.fixture(scope="session", autouse=True)
def _environments_of_jobs() -> None:
    """Have a run's commit find the environment of its job, in place of building it there."""
    prepare_environments()


@pytest.fixture
def committing_db(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database for tests of one connection: rolled back, and what waits for a commit runs.

    It commits in truth where another thread or process reads along: with a server, and where the
    test has the marker `django_db(transaction=True)`.
    """
    if connection.in_atomic_block:
        run_at_commits(monkeypatch)


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


@pytest.fixture(autouse=True)
def _no_foreign_buckets() -> Iterator[None]:
    """Leave no bucket beside Atom's own to the next test."""
    yield
    buckets.remove_made()


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The whole stack, started once: `stack.base_url`, `stack.admin_password`, …"""
    running = Stack.create()
    # Clusters and second stores of the tests are on this machine.
    running.external = {"ATOM_CLUSTER_NETWORKS": "127.0.0.0/8", "ATOM_AGENT_IMAGE": "atom-agent"}
    running.external |= {"ATOM_SOURCE_ALLOW": "127.0.0.0/8"}
    try:
        running.start()
        yield running
        running.stop()
    finally:
        running.remove()
