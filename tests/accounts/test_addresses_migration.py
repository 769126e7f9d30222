"""An upgrade leaves each e-mail address to one account and says which lost it."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from atom.accounts.models import AuditEvent, User
from tests.factories.accounts import make_user


@pytest.mark.django_db
def test_the_oldest_account_keeps_an_address_that_several_have() -> None:
    with connection.cursor() as cursor:
        # Taken back with the test's transaction.
        cursor.execute("DROP INDEX user_email_once")
    for name, email in (("a", "x@example.org"), ("b", "X@Example.org"), ("c", ""), ("d", "")):
        make_user(name, email=email)
    migration = import_module("atom.accounts.migrations.0003_one_account_per_address")
    for _ in range(2):
        migration.clear_repeated_addresses(apps, None)
    emails = dict(User.objects.values_list("username", "email"))
    assert emails == {"a": "x@example.org", "b": "", "c": "", "d": ""}
    event = AuditEvent.objects.get(verb="user.email_cleared")
    assert event.data["name"] == "b"
    assert event.data["email"].lower() == "x@example.org"
