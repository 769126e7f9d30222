"""Cheap databases for tests: migrated once for all workers, emptied by deleting."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from asgiref.sync import SyncToAsync
from django.apps import apps
from django.db import connection, connections
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.models.signals import post_migrate

from atom.jobs.apps import sync_after_migration
from tests.services import FOLDER_VARIABLE, TEMPLATE_DATABASE

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
    INSERT INTO jobs_workflow SELECT * FROM kept.jobs_workflow;
END $$
"""
# The built-in workflows, which each migration writes: to put them back costs less.
_KEEP_WORKFLOWS = """
CREATE SCHEMA IF NOT EXISTS kept;
CREATE TABLE IF NOT EXISTS kept.jobs_workflow AS TABLE jobs_workflow
"""

_END_OF_SOCKETS_S = 30


@contextmanager
def one_worker_at_a_time() -> Iterator[None]:
    """Let one of xdist's workers after the other make its database."""
    with (Path(os.environ[FOLDER_VARIABLE]) / "database.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def take_template() -> None:
    """Have the test database copied from the template, if somebody has made one.

    To apply all migrations costs seconds of processor, and to find that all are applied another.
    """
    if _has_template():
        connection.settings_dict["TEST"] |= {"TEMPLATE": TEMPLATE_DATABASE, "MIGRATE": False}


def keep_as_template() -> None:
    """Make a template out of the new test database, unless there is one."""
    if _has_template():
        return
    migrated = connection.settings_dict["NAME"]
    connection.close()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE {TEMPLATE_DATABASE} TEMPLATE "{migrated}"')


def keep_workflows() -> None:
    """Have every later emptying put the built-in workflows back, in place of Django's signal."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_WORKFLOWS)
    post_migrate.disconnect(sync_after_migration, sender=apps.get_app_config("jobs"))


def _has_template() -> bool:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE_DATABASE])
        return cursor.fetchone() is not None


def delete_all_rows(
    _: DatabaseOperations, style: object, tables: list[str], **__: bool
) -> list[str]:
    """Return the statement that deletes every row; as in truncating, no trigger fires."""
    names = ", ".join(f"'{table}'" for table in tables)
    return [_DELETE_ALL % names] if tables else []


@cache
def _emptying() -> str:
    """Return the statement that empties every table that there is when it is first needed."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return _DELETE_ALL % ", ".join(f"'{table}'" for table in tables)


def empty_tables() -> None:
    """Delete every row and put the built-in workflows back, once nothing else works on them."""
    _end_work_of_sockets()
    with connection.cursor() as cursor:
        cursor.execute(_emptying())


def _end_work_of_sockets() -> None:
    """Wait for the thread that asks the database for sockets, and close its connection.

    A test may end while the thread connects. pytest-django then refuses the statement that has the
    new connection commit at once, and Django takes it for one that does: all later tests of
    sockets would fail. Raises TimeoutError when the thread does not end its work.
    """
    SyncToAsync.single_thread_executor.submit(connections.close_all).result(_END_OF_SOCKETS_S)
