"""Idempotency keys and digests as they are stored, and older rows that were converted."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import uuid
from types import ModuleType

import pytest
from django.db import connection

from atom.labeling import migrations
from atom.labeling.engines.keys import uuid_of_key

KEYS = [
    "0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90",
    "0195a3f27c417b3e9d524f1c8a6e2b91",
    "0195A3F2-7C41-7B3E-9D52-4F1C8A6E2B92",
    "0195a3f2-7c417b3e9d524f1c8a6e2b93",
    "k0",
    "",
    "键 with \\ and 'quotes'",
    "_195a3f27c417b3e9d524f1c8a6e2b94",
]


def test_a_uuid_stays_and_other_text_gets_one_of_its_own() -> None:
    made = [uuid_of_key(key) for key in KEYS]
    assert made[:2] == [uuid.UUID(key) for key in KEYS[:2]]
    assert len(set(made)) == len(KEYS)
    assert {one.version for one in made[2:]} == {8}
    assert uuid_of_key("k0") == made[4]


@pytest.mark.django_db
def test_older_rows_get_the_keys_and_digests_that_the_code_makes() -> None:
    migration = _the_migration()
    digest = hashlib.sha256(b"document").hexdigest()
    with connection.cursor() as cursor:
        # It hides the real table of this name until it is dropped.
        cursor.execute(
            "CREATE TEMPORARY TABLE labeling_annotationrevision"
            " (id int, idempotency_key varchar(100), sha256 varchar(64)) ON COMMIT DROP"
        )
        rows = [(index, key, digest) for index, key in enumerate(KEYS)]
        statement = "INSERT INTO labeling_annotationrevision VALUES (%s, %s, %s)"
        cursor.executemany(statement, rows)
        cursor.execute(migration._KEYS)
        cursor.execute(migration._DIGESTS)
        cursor.execute(
            "SELECT idempotency_key::uuid, sha256 FROM labeling_annotationrevision ORDER BY id"
        )
        converted = cursor.fetchall()
        cursor.execute("DROP TABLE pg_temp.labeling_annotationrevision")
    assert [key for key, _ in converted] == [uuid_of_key(key) for key in KEYS]
    assert {bytes(data) for _, data in converted} == {bytes.fromhex(digest)}


def _the_migration() -> ModuleType:
    """Return the migration by the end of its name: its number may change."""
    [name] = [one.name for one in pkgutil.iter_modules(migrations.__path__)
              if one.name.endswith("_objects")]  # fmt: skip
    return importlib.import_module(f"{migrations.__name__}.{name}")
